/** The language that sentences are said in: one for the whole program, chosen once at its start. Both texts stand beside each other where the sentence is made, so that no sentence has two places. */

export type Language = 'en' | 'zh';

export const languages = ['en', 'zh'] as const satisfies readonly Language[];

let spoken: Language = 'en';

export const speak = (language: Language): void => {
  spoken = language;
};

export const spokenLanguage = (): Language => spoken;

/** The text in the language that is spoken. A pair that is kept for later is told by `told(...pair)`. */
export const told = (en: string, zh: string): string => (spoken === 'zh' ? zh : en);

export type Pair = readonly [en: string, zh: string];

/** The same in another language than the one spoken, for pages that change it while they are open. */
export function inLanguage<T>(language: Language, work: () => T): T {
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
