/** Rows of a column gathered by a list, against a plain loop. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { copyRows, Runs } from './gather.ts';

it('copies whole rows of every kind of column, in the order of the list', () => {
  const runs = new Runs();
  const cases = fc.record({
    kind: fc.constantFrom(Float32Array, Int32Array, Uint8Array, Float64Array),
    rows: fc.array(fc.tuple(fc.nat(40), fc.integer({ min: 1, max: 30 })), { maxLength: 12 }),
    width: fc.nat(9),
    at: fc.nat(3),
  });
  fc.assert(
    fc.property(cases, ({ kind, rows, width, at }) => {
      // Stretches of rows that follow one another, as sorting leaves them, and single ones.
      const list = rows.flatMap(([first, length]) => Array.from({ length }, (_, i) => first + i));
      const from = new kind(80 * width);
      for (let i = 0; i < from.length; i++) from[i] = (i * 7) % 251;
      const into = new kind((at + list.length) * width);
      copyRows(into, at, from, runs.find(list, list.length), width);
      const wanted = list.flatMap((row) => Array.from(from.subarray(row * width, (row + 1) * width)));
      expect(Array.from(into)).toEqual([...new Array(at * width).fill(0), ...wanted]);
    }),
  );
});
