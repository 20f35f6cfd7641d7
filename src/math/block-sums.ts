/** Tests over millions of blocks from sums alone: trend, any difference, equivalence. Under the null hypothesis a block's values may be permuted freely, which gives the variances exactly; only normality is asymptotic. */
import { chiSquareTail, normalQuantile, normalTail, normalTwoSided } from './distributions.ts';
import { midRanks, trendWeights } from './ranks/ranks.ts';

/** As plain data, to be sent between threads and added up. */
export interface BlockSums {
  blocks: number;
  /** Sum of the values of each column. */
  sum: number[];
  /** Sum over blocks of (own value - block's mean), and of its square, by column. */
  apart: number[];
  apartSquares: number[];
}

export function emptySums(size: number): BlockSums {
  const zeros = () => new Array<number>(size).fill(0);
  return { blocks: 0, sum: zeros(), apart: zeros(), apartSquares: zeros() };
}

export function addBlock(sums: BlockSums, values: ArrayLike<number>): void {
  const size = sums.sum.length;
  let mean = 0;
  for (let i = 0; i < size; i++) mean += values[i];
  mean /= size;
  for (let i = 0; i < size; i++) {
    const apart = values[i] - mean;
    sums.sum[i] += values[i];
    sums.apart[i] += apart;
    sums.apartSquares[i] += apart * apart;
  }
  sums.blocks++;
}

export function joinSums(parts: readonly BlockSums[]): BlockSums {
  const all = emptySums(parts[0].sum.length);
  for (const part of parts) {
    all.blocks += part.blocks;
    for (let i = 0; i < all.sum.length; i++) {
      all.sum[i] += part.sum[i];
      all.apart[i] += part.apart[i];
      all.apartSquares[i] += part.apartSquares[i];
    }
  }
  return all;
}

/** Values and their ranks side by side. */
export interface ValueAndRankSums {
  values: BlockSums;
  ranks: BlockSums;
}

export class BlockCounter {
  readonly sums: ValueAndRankSums;
  private readonly ranks: Float64Array;

  constructor(size: number) {
    this.sums = { values: emptySums(size), ranks: emptySums(size) };
    this.ranks = new Float64Array(size);
  }

  add(values: ArrayLike<number>): void {
    addBlock(this.sums.values, values);
    addBlock(this.sums.ranks, midRanks(values, this.ranks));
  }
}

export function columnMeans({ sum, blocks }: BlockSums): number[] {
  return sum.map((value) => value / blocks);
}

/** Mean over blocks of the variance within a block. */
export function withinVariance({ apartSquares, blocks }: BlockSums): number {
  return apartSquares.reduce((sum, value) => sum + value, 0) / (apartSquares.length - 1) / blocks;
}

export interface SumTest {
  statistic: number;
  p: number;
}

/** A linear trend along the columns, against both directions; positive where the first column is best. On ranks it is Page's test. */
export function trendTest(sums: BlockSums): SumTest {
  const weights = trendWeights(sums.sum.length);
  const contrast = sums.apart.reduce((total, value, i) => total + weights[i] * value, 0);
  const squares = weights.reduce((total, weight) => total + weight * weight, 0);
  const variance = squares * withinVariance(sums) * sums.blocks;
  const statistic = variance > 0 ? contrast / Math.sqrt(variance) : 0;
  return { statistic, p: variance > 0 ? normalTwoSided(statistic) : 1 };
}

/** Any difference between columns; on ranks it is Friedman's test, corrected for ties. */
export function anyDifferenceTest(sums: BlockSums): SumTest {
  const variance = withinVariance(sums) * sums.blocks;
  if (variance === 0) return { statistic: 0, p: 1 };
  // The covariance of the columns' sums is variance * (identity - 1/size), so this is chi-square with size - 1 degrees.
  const statistic = sums.apart.reduce((total, value) => total + value * value, 0) / variance;
  return { statistic, p: chiSquareTail(statistic, sums.sum.length - 1) };
}

export interface Equivalence {
  margin: number;
  /** The larger p of all one-sided tests: below the level, every column lies within the margin of the mean of all. */
  p: number;
  equivalent: boolean;
  /** The narrowest margin that could be claimed at the level. */
  narrowest: number;
}

/** Two one-sided tests for each column's distance from the mean of all columns. All must be passed, so no correction is due. */
export function equivalenceTest(sums: BlockSums, margin: number, level: number): Equivalence {
  const { blocks } = sums;
  const critical = normalQuantile(level);
  let p = 0;
  let narrowest = 0;
  for (let i = 0; i < sums.sum.length; i++) {
    const distance = sums.apart[i] / blocks;
    const error = Math.sqrt(Math.max(0, sums.apartSquares[i] / blocks - distance * distance) / blocks);
    const room = margin - Math.abs(distance);
    p = Math.max(p, error > 0 ? normalTail(room / error) : room > 0 ? 0 : 1);
    narrowest = Math.max(narrowest, Math.abs(distance) + critical * error);
  }
  return { margin, p, equivalent: p < level, narrowest };
}
