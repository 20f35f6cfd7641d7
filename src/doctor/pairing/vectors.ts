/** What the pairing of rows and advantages is tried with: lines by cell, other agents' rows, group means. */

import { spread } from '../../math/statistics.ts';
import { budgets } from '../budgets.ts';
import { withMinibatch } from '../evidence/keys.ts';
import { gather } from '../evidence/rows.ts';
import { limits } from '../limits.ts';
import { nearest } from '../transforms/credit/permutation.ts';
import { cellsOf, type Line } from './consensus.ts';

/** The line of every row's cell. */
export class LineOf {
  /** Rows that have a line. */
  rows = 0;
  private readonly cells: { rows: Int32Array; line: Line }[] = [];
  private index: Int32Array | null = null;

  constructor(private readonly all: number) {}

  set(rows: Int32Array, line: Line): void {
    this.cells.push({ rows, line });
    this.rows += rows.length;
  }

  /** How much of the row's cell lies on its line. */
  share(row: number): number {
    const cell = this.cell(row);
    return cell ? cell.line.matched / cell.rows.length : 0;
  }

  get(row: number): Line | undefined {
    return this.cell(row)?.line;
  }

  private cell(row: number) {
    if (!this.index) {
      const index = new Int32Array(this.all).fill(-1);
      this.cells.forEach(({ rows }, i) => {
        for (const own of rows) index[own] = i;
      });
      this.index = index;
    }
    return this.cells[this.index[row]];
  }
}

/** Each sample's credit less the mean of its group within its policy, as the update would have taken it; rows that are not struck keep theirs. */
export function demeaned(
  epoch: { rows: Int32Array; levels: readonly ((row: number) => number)[] },
  keys: Float64Array,
  reference: ArrayLike<number>,
  sample: ArrayLike<number>,
  struck: (row: number) => boolean,
): Float64Array {
  const out = new Float64Array(reference.length).fill(Number.NaN);
  for (const row of epoch.rows) out[sample[row]] = reference[sample[row]];
  const group = (row: number) => (struck(row) ? withMinibatch(epoch.levels[0](row), keys[sample[row]]) : Number.NaN);
  for (const list of cellsOf(epoch.rows, group, 1).lists) {
    let mean = 0;
    for (const row of list) mean += reference[sample[row]] / list.length;
    for (const row of list) out[sample[row]] = reference[sample[row]] - mean;
  }
  return out;
}

/** Each sample's credit with mean 0 and spread 1 within its cell, as a batch is normalised before anything else is done to it. */
export function normalised(
  rows: Int32Array,
  level: (row: number) => number,
  reference: ArrayLike<number>,
  sample: ArrayLike<number>,
): Float64Array {
  const out = new Float64Array(reference.length).fill(Number.NaN);
  for (const list of cellsOf(rows, level, 1).lists) {
    const samples = list.map((row) => sample[row]);
    const { mean, std } = spread(gather(reference, samples));
    for (const row of samples) out[row] = (reference[row] - mean) / std;
  }
  return out;
}

/** Whether the rows' credit is the same but for rounding: then any pairing is right, and normalising only magnifies the rounding. */
export function alike(x: ArrayLike<number>, rows: Int32Array): boolean {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const row of rows) {
    if (x[row] < low) low = x[row];
    if (x[row] > high) high = x[row];
  }
  return high - low <= limits.alikeCredit.value * Math.max(Math.abs(low), Math.abs(high));
}

/**
 * The line that turns members of a pool into all values of a cell, both sorted: a cell's largest is the image of one of the pool's larger
 * members, its smallest of one of the smaller, and with two images known every other value must hit a member.
 */
export function fromPool(pool: Float64Array, values: Float64Array, slack: number): Line | null {
  const count = values.length;
  const span = values[count - 1] - values[0];
  if (count < limits.poolRows.value || pool.length < count || !(span > 0)) return null;
  // So far from the pool's ends lies the extreme of a random part with a chance of exp(-12).
  const reach = Math.min(pool.length - 1, Math.ceil((limits.poolReach.value * pool.length) / count));
  for (let high = pool.length - 1; high >= pool.length - 1 - reach; high--)
    for (let low = 0; low <= reach && low < high; low++) {
      const slope = span / (pool[high] - pool[low]);
      if (!Number.isFinite(slope)) continue;
      const intercept = values[0] - slope * pool[low];
      // By chance a value hits a member with this probability; from a fifth on, hits prove too little.
      if ((2 * slack * pool.length) / (slope * (pool[pool.length - 1] - pool[0])) > limits.poolChance.value) continue;
      let hits = 0;
      for (let i = 0; i < count && hits >= i - limits.poolMissed.value * count; i++)
        if (distance(pool, (values[i] - intercept) / slope) * slope <= slack) hits++;
      if (hits >= (1 - limits.poolMissed.value) * count) return { slope, intercept, matched: hits };
    }
  return null;
}

/**
 * The same where a share of the values is of rows that were not recorded, such as those of agents that had died: any of the largest and smallest may
 * then be a stranger, so several of them are tried as the images of several members, and chance must explain next to nothing.
 */
export function partlyFromPool(pool: Float64Array, values: Float64Array, slack: number): Line | null {
  const count = values.length;
  const last = pool.length - 1;
  // A part of a larger batch has its extremes too deep inside the pool to be looked for.
  if (count < limits.unpairedRows.value * limits.poolRows.value || pool.length > 2 * count) return null;
  const chance = (2 * slack * pool.length) / (values[count - 1] - values[0]);
  if (!(chance <= limits.poolStrangerChance.value)) return null;
  const needed = 1 - limits.poolStrangers.value;
  const hits = (slope: number, intercept: number, stride: number) => {
    let found = 0;
    for (let i = stride >> 1; i < count; i += stride)
      if (distance(pool, (values[i] - intercept) / slope) * slope <= slack) found++;
    return found;
  };
  const reach = budgets.poolStrangers;
  const stride = Math.ceil(count / limits.poolRows.value);
  const looked = Math.floor((count - 1 - (stride >> 1)) / stride) + 1;
  const line = (y0: number, y1: number, x0: number, x1: number): Line | null => {
    const slope = (y1 - y0) / (x1 - x0);
    if (!(slope > 0) || !Number.isFinite(slope)) return null;
    const intercept = y0 - slope * x0;
    if (hits(slope, intercept, stride) < limits.most.value * needed * looked) return null;
    const matched = hits(slope, intercept, 1);
    return matched >= needed * count ? { slope, intercept, matched } : null;
  };
  for (let low = 0; low < reach; low++)
    for (let high = 0; high < reach; high++)
      for (let bottom = 0; bottom < reach; bottom++)
        for (let top = 0; top < reach; top++) {
          const found = line(values[bottom], values[count - 1 - top], pool[low], pool[last - high]);
          if (found) return found;
        }
  return null;
}

const distance = (sorted: Float64Array, value: number) => Math.abs(nearest(sorted, value) - value);
