/** What a transform is: a value that undoes a fault. Its fields are its JSON form, so what was searched, drawn, printed and stored is one object; no text is ever read back. */

export type Language = 'en' | 'zh';

/** As JSON holds it: an id, and its parameters beside it. */
export interface TransformValue {
  readonly id: string;
}

export interface Transform extends TransformValue {
  describe(language: Language): string;
}

/** The text in the language that is asked for. */
export const told = (language: Language, en: string, zh: string): string => (language === 'zh' ? zh : en);
