/** Tests of one number per seed: is its mean other than 0, or is it near 0? Seeds are independent, so Student's t is fair; few seeds make it humble. */
import { studentQuantile, studentTail, studentTwoSided } from '../distributions.ts';

export interface MeanTest {
  mean: number;
  standardError: number;
  t: number;
  freedom: number;
  /** Against both directions. */
  p: number;
}

export function meanTest(values: ArrayLike<number>): MeanTest {
  const count = values.length;
  const mean = Array.from(values).reduce((sum, value) => sum + value, 0) / count;
  const squares = Array.from(values).reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const standardError = Math.sqrt(squares / (count - 1) / count);
  const freedom = count - 1;
  if (!(standardError > 0))
    return { mean, standardError, t: mean === 0 ? 0 : Math.sign(mean) * Infinity, freedom, p: mean === 0 ? 1 : 0 };
  const t = mean / standardError;
  return { mean, standardError, t, freedom, p: studentTwoSided(t, freedom) };
}

/** Interval of the mean that holds it with the chance given. */
export function meanInterval(values: ArrayLike<number>, level = 0.95): { mean: number; low: number; high: number } {
  const { mean, standardError, freedom } = meanTest(values);
  const half = studentQuantile((1 - level) / 2, freedom) * standardError;
  return { mean, low: mean - half, high: mean + half };
}

/** Two one-sided tests: below the level, the mean lies between -margin and margin. */
export function nearZeroTest(values: ArrayLike<number>, margin: number): number {
  const { mean, standardError, freedom } = meanTest(values);
  if (!(standardError > 0)) return Math.abs(mean) < margin ? 0 : 1;
  return Math.max(
    studentTail((mean + margin) / standardError, freedom),
    studentTail((margin - mean) / standardError, freedom),
  );
}
