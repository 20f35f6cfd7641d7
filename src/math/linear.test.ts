import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { solve } from './linear.ts';
import { RandomStream } from './random.ts';

describe('least squares', () => {
  it('finds the coefficients that made the numbers', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -9, max: 9 }), { minLength: 1, maxLength: 5 }),
        fc.nat(),
        (wanted, seed) => {
          const stream = RandomStream.of(seed, 'linear');
          const rows = Array.from({ length: 40 }, () => wanted.map(() => stream.normal()));
          const right = rows.map((row) => row.reduce((sum, term, i) => sum + term * wanted[i], 0));
          const found = solve(rows, right)!;
          found.forEach((value, i) => {
            expect(value).toBeCloseTo(wanted[i], 6);
          });
        },
      ),
    );
  });

  it('answers nothing where columns do not tell the unknowns apart', () => {
    const rows = Array.from({ length: 20 }, (_, i) => [i, 2 * i, 1]);
    expect(
      solve(
        rows,
        rows.map(([x]) => x),
      ),
    ).toBeNull();
    expect(solve([[0], [0]], [1, 1])).toBeNull();
    expect(solve([[1, 2]], [1])).toBeNull();
  });
});
