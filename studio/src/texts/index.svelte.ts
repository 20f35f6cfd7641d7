/** The language in use, remembered, and every text in both, beside each other. Texts are plain; they are never put into the page as markup. */
import { speak } from '../../../src/language/language.ts';
import { diagnosis } from './diagnosis.ts';
import { runs } from './runs.ts';
import { views } from './views.ts';

export const languages = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof languages;

/** English, then Chinese. */
export const texts = { ...diagnosis, ...runs, ...views };
export type TextKey = keyof typeof texts;

function remembered(): Language {
  const kept = globalThis.localStorage?.getItem('language');
  if (kept === 'en' || kept === 'zh') return kept;
  return globalThis.navigator?.language.startsWith('zh') ? 'zh' : 'en';
}

class Words {
  language = $state<Language>(remembered());

  use(language: Language): void {
    this.language = language;
    speak(language);
    globalThis.localStorage?.setItem('language', language);
    document.documentElement.lang = language;
  }
}

export const words = new Words();
// Sentences of the program, such as why a file cannot be read, are said by the page's own thread too.
speak(words.language);

/** A text in the language in use, with its places filled. */
export function say(key: TextKey, fill?: Record<string, string | number>): string {
  const text: string = texts[key][words.language === 'zh' ? 1 : 0];
  if (!fill) return text;
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole));
}
