/** The language that sentences are said in: one for the whole program, chosen once at its start. Both texts stand beside each other where the sentence is made, so that no sentence has two places. */

export type Language = 'en' | 'zh';

export const languages = ['en', 'zh'] as const satisfies readonly Language[];

/** `both`: what is made is kept, and its reader chooses the language by `tell`. */
export type Spoken = Language | 'both';

let spoken: Spoken = 'en';

export const speak = (language: Spoken): void => {
  spoken = language;
};

export const spokenLanguage = (): Spoken => spoken;

/** The text in the language that is spoken. A pair that is kept for later is told by `told(...pair)`. */
export const told = (en: string, zh: string): string =>
  spoken === 'both' ? marked(tell(en, 'en'), tell(zh, 'zh')) : spoken === 'zh' ? zh : en;

/** Characters that Unicode assigns to nothing stand around and between the two texts. Sentences are joined and quoted in others like any text, so marks are never within marks. */
const marked = (en: string, zh: string): string => (en === zh ? en : `\uE0A0${en}\uE0A1${zh}\uE0A2`);
const marks = /\uE0A0([^\uE0A1]*)\uE0A1([^\uE0A2]*)\uE0A2/g;

/** A text that was made in both languages, in one of them; also a whole JSON file of such texts. */
export const tell = (text: string, language: Language): string =>
  text.includes('\uE0A0') ? text.replace(marks, language === 'zh' ? '$2' : '$1') : text;

/** Plain data whose texts were made in both languages, in one of them. */
export function tellAll<T>(value: T, language: Language): T {
  const each = (part: unknown): unknown => {
    if (typeof part === 'string') return tell(part, language);
    if (Array.isArray(part)) return part.map(each);
    if (typeof part !== 'object' || part === null || Object.getPrototypeOf(part) !== Object.prototype) return part;
    return Object.fromEntries(Object.entries(part).map(([key, own]) => [tell(key, language), each(own)]));
  };
  return each(value) as T;
}

/** The sentence with a capital letter. */
export const capital = (text: string): string =>
  text.replace(/^(\uE0A0?)(.)/su, (_, mark: string, first: string) => mark + first.toUpperCase());

export type Pair = readonly [en: string, zh: string];

/** The same in another language than the one spoken, for pages that change it while they are open. */
export function inLanguage<T>(language: Spoken, work: () => T): T {
  const before = spoken;
  spoken = language;
  try {
    return work();
  } finally {
    spoken = before;
  }
}

/** What joins the items of a list, and what separates two sentences. */
export const comma = () => told(', ', '、');
export const space = () => told(' ', '');

/** The language of the locale, as the operating system's programs find it: the first of these that is set decides. */
export function localeLanguage(environment: Readonly<Record<string, string | undefined>>): Language {
  const locale = environment.LC_ALL || environment.LC_MESSAGES || environment.LANG || '';
  return /^zh([_.@-]|$)/i.test(locale) ? 'zh' : 'en';
}
