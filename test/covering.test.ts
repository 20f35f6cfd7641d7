import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { conventions, forbidden, usual } from '../bench/conventions/conventions.ts';
import { coveringArray, type Factors, type Forbidden, type Row, Rules } from '../bench/conventions/covering.ts';

const small = fc.array(fc.integer({ min: 2, max: 4 }), { minLength: 2, maxLength: 5 }).chain((sizes) => {
  const factors: Factors = Object.fromEntries(
    sizes.map((size, i) => [`f${i}`, Array.from({ length: size }, (_, level) => `${level}`)]),
  );
  const level = fc.nat(sizes.length - 1).chain((i) => fc.tuple(fc.constant(i), fc.nat(sizes[i] - 1)));
  const pair = fc.tuple(level, level).filter(([[a], [b]]) => a !== b);
  const pairs = fc
    .array(pair, { maxLength: 6 })
    .map((list) => list.map(([[a, x], [b, y]]): Forbidden => [`f${a}`, `${x}`, `f${b}`, `${y}`]));
  return fc.tuple(fc.constant(factors), pairs);
});

/** Every row there is, by counting. */
function everyRow(factors: Factors): Row[] {
  return Object.entries(factors).reduce<Row[]>(
    (rows, [name, levels]) => rows.flatMap((row) => levels.map((level) => ({ ...row, [name]: level }))),
    [{}],
  );
}

const breaks = (row: Row, rules: readonly Forbidden[]) => rules.some(([a, x, b, y]) => row[a] === x && row[b] === y);

function pairsOf(rows: readonly Row[]): Set<string> {
  const found = new Set<string>();
  for (const row of rows) {
    const names = Object.keys(row);
    for (const a of names) for (const b of names) if (a < b) found.add(`${a}=${row[a]} ${b}=${row[b]}`);
  }
  return found;
}

describe('a covering array', () => {
  it('holds every pair of levels that any allowed row holds, and no forbidden one', () => {
    fc.assert(
      fc.property(small, fc.nat(1000), ([factors, rules], seed) => {
        const rows = coveringArray(new Rules(factors, rules), seed, 3);
        const allowed = everyRow(factors).filter((row) => !breaks(row, rules));
        expect(rows.some((row) => breaks(row, rules))).toBe(false);
        expect([...pairsOf(rows)].sort()).toEqual([...pairsOf(allowed)].sort());
      }),
    );
  });

  it('is the same for the same seed', () => {
    const rules = new Rules(conventions, forbidden);
    expect(coveringArray(rules, 5, 1)).toEqual(coveringArray(rules, 5, 1));
  });
});

describe('the conventions', () => {
  it('are at least 24, and the usual ones are allowed together', () => {
    expect(Object.keys(conventions).length).toBeGreaterThanOrEqual(24);
    expect(breaks(usual, forbidden)).toBe(false);
  });

  it('have no forbidden pair that names what is not there', () => {
    expect(() => new Rules(conventions, [['agents', '3', 'kl', 'k1']])).toThrow('no convention is called agents: 3');
  });
});
