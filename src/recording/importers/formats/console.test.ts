import { array, assert, constantFrom, double, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toNumber } from '../log.ts';
import { Pairs } from './console.ts';

const number = String.raw`[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?|nan|[-+]?inf(?:inity)?`;
/** The specification, which takes many looks at each character. */
const pair = new RegExp(
  String.raw`([A-Za-z\u3400-\u9fff][\w./() \u3400-\u9fff-]{0,60}?)\s*[:=：]\s*(${number})(?![\w.:/-])`,
  'gi',
);
const specified = (line: string) => [...line.matchAll(pair)].map((match) => [match[1].trim(), toNumber(match[2])]);

/** One for all lines: what it knows of earlier ones must not show. */
const shared = new Pairs();
function pairsOf(line: string): [string, number][] {
  const found: [string, number][] = [];
  shared.visit(line, (name, value) => found.push([name, value]));
  return found;
}

describe('pairs of a printed line', () => {
  it('are names and numbers as people print them', () => {
    expect(pairsOf('[update 3] train/kl: 0.01, 熵：1.5 loss=-2e-3 at 10:22:31 (ok)')).toEqual([
      ['train/kl', 0.01],
      ['熵', 1.5],
      ['loss', -2e-3],
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
    // The same line with other numbers, as one program prints it.
    const numbers = constantFrom('0', '-1.5', '.5', '2.', '3e-4', '1e', 'nan', '-inf', '7x', '1.2.3', '');
    assert(
      property(line, array(numbers, { maxLength: 60 }), (words, others) => {
        let next = 0;
        const again = words.map((word) => (/\d|nan|inf/.test(word) ? (others[next++] ?? word) : word));
        for (const text of [words.join(''), again.join('')]) expect(pairsOf(text)).toEqual(specified(text));
      }),
      { numRuns: 5000, seed: 2 },
    );
    // Numbers are read where they stand, to the last bit.
    for (const text of [
      '0.1',
      '123456789.012345',
      '1e22',
      '1e23',
      '9007199254740993',
      '4.35',
      '-0.0',
      '5e-324',
      '1.7976931348623157e308',
    ])
      expect(pairsOf(`kl: ${text}`)).toEqual([['kl', Number(text)]]);
    assert(
      property(double({ noDefaultInfinity: true, noNaN: true }), (value) => {
        for (const text of [`${value}`, value.toPrecision(6), value.toExponential(3)])
          expect(pairsOf(`kl: ${text}`)).toEqual([['kl', Number(text)]]);
      }),
      { numRuns: 5000, seed: 3 },
    );
    const long = `${'n'.repeat(80)} value: 3, ${'x '.repeat(40)}y = 4`;
    expect(pairsOf(long)).toEqual(specified(long));
  });
});
