import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedLength, nextLength } from './imagination.ts';
import { ints, Ring } from './ring.ts';
import { chooseGoals } from './subgoals.ts';

describe('a ring', () => {
  it('keeps the latest rows, counts every push, and goes on after it was saved as if it had not been', () => {
    const make = () => new Ring(4, { number: { make: ints, width: 2 } });
    const ring = make();
    const put = (into: typeof ring, value: number) => {
      const row = into.push();
      into.columns.number[2 * row] = value;
      into.columns.number[2 * row + 1] = -value;
    };
    for (let value = 1; value <= 6; value++) put(ring, value);
    expect([ring.size, ring.pushes]).toEqual([4, 6]);
    expect([...ring.columns.number]).toEqual([5, -5, 6, -6, 3, -3, 4, -4]);
    const other = make();
    other.load(ring.save());
    put(ring, 7);
    put(other, 7);
    expect(other.save()).toEqual(ring.save());
  });
});

describe('the length of imagined rollouts', () => {
  it('is the longest whose chance of a wrong step stays within the limit', () => {
    fc.assert(
      fc.property(
        fc.double({ min: 1e-4, max: 0.9, noNaN: true }),
        fc.double({ min: 0.01, max: 0.5, noNaN: true }),
        (error, most) => {
          const length = allowedLength(error, most, 50);
          const wrong = (steps: number) => 1 - (1 - error) ** steps;
          expect(wrong(length)).toBeLessThanOrEqual(most + 1e-6);
          if (length < 50) expect(wrong(length + 1)).toBeGreaterThan(most - 1e-6);
        },
      ),
      { seed: 1 },
    );
    expect([allowedLength(0, 0.1, 5), allowedLength(1, 0.1, 5), allowedLength(0.2, 0.1, 5)]).toEqual([5, 0, 0]);
  });

  it('starts at 1, grows by one while it is allowed, and falls back at once', () => {
    let length = 1;
    const lengths = [5, 5, 5, 2, 0, 5].map((allowed) => {
      length = nextLength(length, allowed);
      return length;
    });
    expect(lengths).toEqual([2, 3, 4, 2, 1, 2]);
  });
});

describe('a subgoal', () => {
  it('is the state of best, or worst, value among the next few of the same life', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ life: fc.integer({ min: 0, max: 3 }), value: fc.integer({ min: -3, max: 3 }) }), {
          minLength: 1,
          maxLength: 40,
        }),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom('optimistic' as const, 'conservative' as const),
        (rows, horizon, choose) => {
          const later = Int32Array.from(rows, (row, i) => {
            const next = rows.findIndex((other, j) => j > i && other.life === row.life);
            return next;
          });
          const goal = new Int32Array(rows.length);
          const value = Float32Array.from(rows, (row) => row.value);
          chooseGoals(later, value, rows.length, horizon, choose, goal);
          rows.forEach((row, i) => {
            const ahead = rows
              .map((other, j) => ({ ...other, j }))
              .filter((other) => other.j > i && other.life === row.life)
              .slice(0, horizon);
            if (ahead.length === 0) {
              expect(goal[i]).toBe(i);
              return;
            }
            const values = ahead.map((other) => other.value);
            const wanted = choose === 'optimistic' ? Math.max(...values) : Math.min(...values);
            expect(ahead.find((other) => other.j === goal[i])?.value).toBe(wanted);
          });
        },
      ),
      { seed: 1 },
    );
  });
});
