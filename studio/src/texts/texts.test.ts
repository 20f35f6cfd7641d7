import { describe, expect, it } from 'vitest';
import { en, type TextKey } from './en.ts';
import { zh } from './zh.ts';

const keys = Object.keys(en) as TextKey[];
/** Names that are the same in every language. */
const same = ['export.svg', 'export.csv'];

describe('the interface in Chinese', () => {
  it('has a Chinese text for every English one', () => {
    expect(Object.keys(zh).sort()).toEqual([...keys].sort());
    expect(keys.filter((key) => !same.includes(key) && !/\p{Script=Han}/u.test(zh[key]))).toEqual([]);
  });

  it('fills in the same places', () => {
    const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const key of keys) expect(places(zh[key]), key).toEqual(places(en[key]));
  });
});
