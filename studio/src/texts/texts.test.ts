import { describe, expect, it } from 'vitest';
import { diagnosis } from './diagnosis.ts';
import { runs } from './runs.ts';
import { views } from './views.ts';

const texts: Record<string, readonly [string, string]> = { ...diagnosis, ...runs, ...views };
/** Names that are the same in every language. */
const same = ['export.svg', 'export.csv', 'runs.moment'];

describe('the interface in Chinese', () => {
  it('has a Chinese text for every English one', () => {
    const untold = Object.entries(texts).filter(
      ([key, [, chinese]]) => !same.includes(key) && !/\p{Script=Han}/u.test(chinese),
    );
    expect(untold).toEqual([]);
  });

  it('fills in the same places', () => {
    const places = (text: string) => (text.match(/\{\w+\}/g) ?? []).sort();
    for (const [key, [english, chinese]] of Object.entries(texts))
      expect(places(chinese), key).toEqual(places(english));
  });
});
