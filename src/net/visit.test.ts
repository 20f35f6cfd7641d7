/** The order in which the kernels visit rows: ascending, with every row's place in the order that was asked for. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Visit } from './wasm/visit.ts';

describe('the visit of a minibatch', () => {
  it('is ascending and gives every row its place, call after call', () => {
    const visit = new Visit();
    const lists = fc.integer({ min: 1, max: 200 }).chain((length) =>
      fc.record({
        length: fc.constant(length),
        order: fc.shuffledSubarray([...Array(length).keys()], { minLength: Math.ceil(length / 8) }),
      }),
    );
    fc.assert(
      fc.property(lists, ({ length, order }) => {
        visit.plan(Int32Array.from([99, ...order]), 1, order.length + 1, length);
        const rows = Array.from(visit.rows.subarray(0, order.length));
        const ascending = [...order].sort((a, b) => a - b);
        expect(rows).toEqual(ascending);
        expect(visit.moved).toBe(order.some((row, i) => row !== ascending[i]));
        if (visit.moved) expect(rows.map((_, k) => order[visit.places[k]])).toEqual(rows);
      }),
    );
  });

  it('is the order asked for where a row comes twice or rows are few among many', () => {
    const visit = new Visit();
    for (const [order, length] of [
      [[3, 1, 3, 0], 4],
      [[70, 2], 100],
    ] as const) {
      visit.plan(Int32Array.from(order), 0, order.length, length);
      expect([visit.moved, ...visit.rows.subarray(0, order.length)]).toEqual([false, ...order]);
    }
  });

  it('says which row is not there, and forgets the others', () => {
    const visit = new Visit();
    expect(() => visit.plan(Int32Array.of(2, 0, 5), 0, 3, 4)).toThrow('order[2] is 5; there are rows 0 to 3.');
    visit.plan(Int32Array.of(3, 0, 1), 0, 3, 4);
    expect([visit.moved, ...visit.rows.subarray(0, 3)]).toEqual([true, 0, 1, 3]);
  });
});
