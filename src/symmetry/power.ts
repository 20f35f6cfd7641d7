/** What a stage could have seen. It may say "clear" only where it would have seen an effect of a tenth of the mean return; where not, it says how much more that takes. */
import { told } from '../language/language.ts';
import { detectableMean, trendBlocks } from '../math/ranks/power.ts';
import { fewestBlocks } from '../math/ranks/rank-tests.ts';
import { equivalenceMargin, visibleShare, wantedPower } from './levels.ts';

/** The mean return; the spread within episodes or seeds where the mean is too near 0 to measure by. */
export function scaleOf(grand: number, within: number): number {
  return Math.abs(grand) > 0.1 * Math.sqrt(within) ? Math.abs(grand) : Math.sqrt(within);
}

/** The difference within which equality is claimed. */
export const marginOf = (grand: number, within: number): number => equivalenceMargin * scaleOf(grand, within);

/** The effect that a stage must have been able to see before it may call anything clear. */
export const visibleEffect = (grand: number, within: number): number => visibleShare * scaleOf(grand, within);

/** Seeds with which Page's test sees such a trend; ranks use 0.955 k / (k + 1) of what normal values tell. */
export function seedsForTrend(size: number, within: number, level: number, range: number): number {
  const blocks = trendBlocks({ size, within, level }, range, wantedPower);
  return Math.max(fewestBlocks(size, level), Math.ceil(blocks / ((0.955 * size) / (size + 1))));
}

/** Seeds with which Student's test of paired differences sees such a mean. */
export function seedsForMean(deviation: number, level: number, mean: number): number {
  const enough = (count: number) => detectableMean(count, level, wantedPower) * deviation <= mean;
  let [low, high] = [2, 4];
  while (!enough(high) && high < 1e7) high *= 2;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (enough(middle)) high = middle;
    else low = middle;
  }
  return high;
}

/** The sentence of a stage that is open for want of power. */
export function wouldTake(count: number, of: 'seeds' | 'episodes'): string {
  const many = count.toLocaleString('en-US');
  return told(
    ` That is more than 10 % of the mean return, so nothing is called clear: an effect of 10 % would take about ${many} ${of}.`,
    `这超过平均回报的 10 %，因此不能判为“无异常”：要看出 10 % 的效应，大约需要 ${many} ${of === 'seeds' ? '个随机种子' : '局'}。`,
  );
}
