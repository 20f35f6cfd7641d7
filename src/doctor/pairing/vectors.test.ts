/** Lines that turn the credit of a batch into what a loss used, where some of it is of rows that nobody recorded. */
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { fromPool, partlyFromPool } from './vectors.ts';

const random = RandomStream.of(7, 'pools');
const draw = (count: number) => Float64Array.from({ length: count }, () => random.uniform() + random.uniform() - 1);
const line = (values: Float64Array) => values.map((value) => 2.5 * value + 0.3).sort();

describe('credit drawn from a pool', () => {
  const pool = draw(240).sort();

  it('is found with a quarter of it from elsewhere, by the line that was used', () => {
    const used = line(Float64Array.from([...pool.filter((_, i) => i % 4 !== 0), ...draw(60)]));
    expect(fromPool(pool, used, 1e-6)).toBeNull();
    const found = partlyFromPool(pool, used, 1e-6)!;
    expect(found.slope).toBeCloseTo(2.5, 6);
    expect(found.intercept).toBeCloseTo(0.3, 6);
    expect(found.matched).toBe(180);
  });

  it('is not found where most of it is from elsewhere', () => {
    const used = line(Float64Array.from([...pool.filter((_, i) => i % 4 === 0), ...draw(180)]));
    expect(partlyFromPool(pool, used, 1e-6)).toBeNull();
  });

  it('is not looked for where a number is near some member by chance', () => {
    expect(partlyFromPool(pool, line(pool), 0.05)).toBeNull();
  });
});
