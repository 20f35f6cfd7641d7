/** The trend of a run along its agents, and how large a change of it can be excluded. A change that is not significant is not thereby excluded. */
import { studentQuantile } from '../math/distributions.ts';
import { type MeanTest, meanTest } from '../math/ranks/paired-tests.ts';
import { trendWeights } from '../math/ranks/ranks.ts';
import type { RunCurve } from '../sweep/curves.ts';
import { equivalenceLevel } from './levels.ts';

/** Positive where the first agent does best. */
export function trendOf({ last }: RunCurve): number {
  const weights = trendWeights(last.length);
  return last.reduce((sum, value, agent) => sum + weights[agent] * value, 0);
}

/** A module or an order is ruled out where a change of the trend by this share of the mean return is excluded. */
export const excludedShare = 0.1;

export interface Change extends MeanTest {
  /** Changes beyond this are excluded at the level of equivalence. */
  narrowest: number;
  excluded: boolean;
  /** Not one bit differs. */
  exact: boolean;
  /** In words, for what was ruled out or not. */
  said: string;
}

/** The change of the trend from one condition to the other, paired by seed. */
export function changeOfTrend(from: readonly RunCurve[], to: readonly RunCurve[]): Change {
  const count = Math.min(from.length, to.length);
  const test = meanTest(Array.from({ length: count }, (_, i) => trendOf(to[i]) - trendOf(from[i])));
  const returns = from.flatMap(({ last }) => last);
  const grand = Math.abs(returns.reduce((a, b) => a + b, 0) / returns.length);
  const exact = test.mean === 0 && !(test.standardError > 0);
  const narrowest = exact
    ? 0
    : Math.abs(test.mean) + studentQuantile(equivalenceLevel, test.freedom) * test.standardError;
  const percent = Number(((100 * narrowest) / grand).toPrecision(3));
  return {
    ...test,
    narrowest,
    exact,
    excluded: narrowest <= excludedShare * grand,
    said: exact
      ? `the trend is the same to the last bit in ${count} seeds`
      : `a change of the trend by more than ${percent} % of the mean return is excluded by ${count} seeds`,
  };
}
