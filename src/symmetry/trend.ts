/** The trend of a run along its agents, and how large a change of it can be excluded. A change that is not significant is not thereby excluded. */
import { told } from '../language/language.ts';
import { studentQuantile } from '../math/distributions.ts';
import { type MeanTest, meanTest } from '../math/ranks/paired-tests.ts';
import { detectableMean } from '../math/ranks/power.ts';
import { trendWeights } from '../math/ranks/ranks.ts';
import type { RunCurve } from '../sweep/curves.ts';
import { equivalenceLevel, visibleShare, wantedPower } from './levels.ts';
import { scaleOf, seedsForMean, wouldTake } from './power.ts';

/** Positive where the first agent does best. */
export function trendOf({ last }: RunCurve): number {
  const weights = trendWeights(last.length);
  return last.reduce((sum, value, agent) => sum + weights[agent] * value, 0);
}

export interface Change extends MeanTest {
  /** Changes beyond this are excluded at the level of equivalence. */
  narrowest: number;
  excluded: boolean;
  /** Not one bit differs. */
  exact: boolean;
  /** Whether a change by a tenth of the mean return would have been seen. */
  visible: boolean;
  /** In words, for what was ruled out or not. */
  said: string;
  power: string;
}

/** The change of the trend from one condition to the other, paired by seed. */
export function changeOfTrend(from: readonly RunCurve[], to: readonly RunCurve[], level: number): Change {
  const count = Math.min(from.length, to.length);
  const test = meanTest(Array.from({ length: count }, (_, i) => trendOf(to[i]) - trendOf(from[i])));
  const returns = from.flatMap(({ last }) => last);
  const grand = returns.reduce((a, b) => a + b, 0) / returns.length;
  const deviation = test.standardError * Math.sqrt(count);
  const scale = scaleOf(grand, deviation * deviation);
  const exact = test.mean === 0 && !(test.standardError > 0);
  const narrowest = exact
    ? 0
    : Math.abs(test.mean) + studentQuantile(equivalenceLevel, test.freedom) * test.standardError;
  const share = (value: number) => Number(((100 * value) / scale).toPrecision(3));
  const detectable = detectableMean(count, level, wantedPower) * deviation;
  const visible = !exact && detectable <= visibleShare * scale;
  return {
    ...test,
    narrowest,
    exact,
    excluded: narrowest <= visibleShare * scale,
    visible,
    said: exact
      ? told(`the trend is the same to the last bit in ${count} seeds`, `在 ${count} 个种子中趋势完全相同，一位不差`)
      : told(
          `a change of the trend by more than ${share(narrowest)} % of the mean return is excluded by ${count} seeds`,
          `${count} 个种子排除了超过平均回报 ${share(narrowest)} % 的趋势变化`,
        ),
    power: exact
      ? told(
          'What differs between the two has not acted yet, so nothing could be seen.',
          '两者之间的差别尚未起作用，因此什么也看不出。',
        )
      : told(
          `A change of the trend by ${share(detectable)} % of the mean return is seen with power ${wantedPower} by ${count} seeds.`,
          `${count} 个种子能以 ${wantedPower} 的功效看出平均回报 ${share(detectable)} % 的趋势变化。`,
        ) + (visible ? '' : wouldTake(seedsForMean(deviation, level, visibleShare * scale), 'seeds')),
  };
}
