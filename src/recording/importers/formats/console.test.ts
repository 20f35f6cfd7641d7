import { array, assert, constantFrom, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { pairsOf } from './console.ts';

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|[-+]?inf(?:inity)?`;
/** The specification, which takes many looks at each character. */
const pair = new RegExp(
  String.raw`([A-Za-z\u3400-\u9fff][\w./() \u3400-\u9fff-]{0,60}?)\s*[:=：]\s*(${number})(?![\w.:/-])`,
  'gi',
);
const specified = (line: string) => [...line.matchAll(pair)].map((match) => [match[1].trim(), match[2]]);

describe('pairs of a printed line', () => {
  it('are names and numbers as people print them', () => {
    expect(pairsOf('[update 3] train/kl: 0.01, 熵：1.5 loss=-2e-3 at 10:22:31 (ok)')).toEqual([
      ['train/kl', '0.01'],
      ['熵', '1.5'],
      ['loss', '-2e-3'],
    ]);
  });

  it('are those of the specification, whatever the line', () => {
    const parts = [
      'kl',
      'a b',
      ' ',
      '\t',
      ':',
      '=',
      '：',
      '0.5',
      '1',
      '-',
      '.',
      '3e-4',
      'nan',
      'inf',
      '(x)',
      ', ',
      '熵',
      '|',
      '_',
      '/',
      '1.',
      '\u00a0',
      'é',
    ];
    const line = array(constantFrom(...parts), { maxLength: 60 });
    assert(
      property(line, (words) => {
        const text = words.join('');
        expect(pairsOf(text)).toEqual(specified(text));
      }),
      { numRuns: 5000, seed: 1 },
    );
    const long = `${'n'.repeat(80)} value: 3, ${'x '.repeat(40)}y = 4`;
    expect(pairsOf(long)).toEqual(specified(long));
  });
});
