/** The language in use, remembered. Texts are plain; they are never put into the page as markup. */
import { en, type TextKey, type Texts } from './en.ts';
import { zh } from './zh.ts';

export const languages = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof languages;
const texts: Record<Language, Texts> = { en, zh };

function remembered(): Language {
  const kept = globalThis.localStorage?.getItem('language');
  if (kept === 'en' || kept === 'zh') return kept;
  return globalThis.navigator?.language.startsWith('zh') ? 'zh' : 'en';
}

class Words {
  language = $state<Language>(remembered());

  use(language: Language): void {
    this.language = language;
    globalThis.localStorage?.setItem('language', language);
    document.documentElement.lang = language;
  }
}

export const words = new Words();

/** A text in the language in use, with its places filled. */
export function say(key: TextKey, fill: Record<string, string | number> = {}): string {
  return texts[words.language][key].replace(/\{(\w+)\}/g, (whole, name: string) => String(fill[name] ?? whole));
}
