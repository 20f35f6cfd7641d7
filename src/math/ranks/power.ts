/** How much to play or to train before a test may speak: the power of each test, and the numbers that give it. A result without them is no result. */
import { chiSquareQuantile, chiSquareTail, normalQuantile, normalTail, studentQuantile } from '../distributions.ts';
import type { RandomStream } from '../random.ts';
import { pageTest } from './rank-tests.ts';
import { trendWeights } from './ranks.ts';

/** What a test over blocks is planned with. */
export interface BlockPlan {
  /** Columns. */
  size: number;
  /** Mean variance within a block. */
  within: number;
  level: number;
}

/** Evenly falling means whose first and last differ by `range`, as distances from their mean. */
export function evenTrend(size: number, range: number): Float64Array {
  return trendWeights(size).map((weight) => (weight * range) / (size - 1));
}

/** Chance that the trend test over so many blocks sees a difference of `range` between the first and the last column. */
export function trendPower({ size, within, level }: BlockPlan, range: number, blocks: number): number {
  const weights = trendWeights(size);
  const squares = weights.reduce((sum, weight) => sum + weight * weight, 0);
  const shift = (squares * range) / (size - 1) / Math.sqrt((squares * within) / blocks);
  const critical = normalQuantile(level / 2);
  return normalTail(critical - shift) + normalTail(critical + shift);
}

/** Blocks with which the trend test sees such a difference with the power given. */
export function trendBlocks({ size, within, level }: BlockPlan, range: number, power: number): number {
  const squares = trendWeights(size).reduce((sum, weight) => sum + weight * weight, 0);
  const sure = normalQuantile(level / 2) + normalQuantile(1 - power);
  return Math.ceil((sure * sure * within * (size - 1) ** 2) / (squares * range * range));
}

/** Chance that the test for any difference sees columns that lie so far from their mean. */
export function anyDifferencePower(
  { size, within, level }: BlockPlan,
  distances: ArrayLike<number>,
  blocks: number,
): number {
  const squares = Array.from(distances).reduce((sum, distance) => sum + distance * distance, 0);
  return chiSquareTail(chiSquareQuantile(level, size - 1), size - 1, (blocks * squares) / within);
}

/** Blocks with which columns that are equal are also claimed to be, each within `margin` of their mean, with the power given. */
export function equivalenceBlocks({ size, within, level }: BlockPlan, margin: number, power: number): number {
  const sure = normalQuantile(level) + normalQuantile((1 - power) / (2 * size));
  return Math.ceil((sure * sure * within * (1 - 1 / size)) / (margin * margin));
}

/** The difference of first and last column that the trend test over so many blocks sees with the power given. */
export function detectableRange({ size, within, level }: BlockPlan, blocks: number, power: number): number {
  const squares = trendWeights(size).reduce((sum, weight) => sum + weight * weight, 0);
  const sure = normalQuantile(level / 2) + normalQuantile(1 - power);
  return (sure * Math.sqrt(within / blocks) * (size - 1)) / Math.sqrt(squares);
}

/** The mean, in standard deviations of one value, that Student's test over so many values sees with the power given; slightly too large for very few. */
export function detectableMean(count: number, level: number, power: number): number {
  return (studentQuantile(level / 2, count - 1) + studentQuantile(1 - power, count - 1)) / Math.sqrt(count);
}

/** Power of Page's exact test over `blocks` of normal values with an even trend, by simulation. */
export function pagePower(
  { size, within, level }: BlockPlan,
  range: number,
  blocks: number,
  stream: RandomStream,
  repeats = 400,
): number {
  const means = evenTrend(size, range);
  const deviation = Math.sqrt(within);
  let seen = 0;
  for (let repeat = 0; repeat < repeats; repeat++) {
    const drawn = Array.from({ length: blocks }, () =>
      Float64Array.from(means, (mean) => mean + deviation * stream.normal()),
    );
    if (pageTest(drawn).p <= level) seen++;
  }
  return seen / repeats;
}
