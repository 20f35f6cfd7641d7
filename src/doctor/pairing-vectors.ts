/** What the pairing of rows and advantages is tried with: lines by cell, other agents' rows, group means. */
import { cellsOf, type Line } from './consensus.ts';
import type { Iteration } from './iteration.ts';

/** The line of every row's cell. */
export class LineOf {
  private readonly lines: Line[] = [];
  private readonly index: Int32Array;

  constructor(rows: number) {
    this.index = new Int32Array(rows).fill(-1);
  }

  set(rows: Int32Array, line: Line): void {
    for (const row of rows) this.index[row] = this.lines.length;
    this.lines.push(line);
  }

  has(row: number): boolean {
    return this.index[row] >= 0;
  }

  get(row: number): Line | undefined {
    return this.lines[this.index[row]];
  }
}

/** The advantage of the agent whose number is `shift` higher (cyclically) at the same (episode, t). */
export function swapped(iteration: Iteration, reference: ArrayLike<number>, shift: number): Float64Array | null {
  const agents = iteration.run.agentCount;
  if (shift >= agents) return null;
  const agent = iteration.samples!.column('agent')!;
  return Float64Array.from(reference, (_, row) => {
    const other = iteration.others(row).find((candidate) => agent[candidate] === (agent[row] + shift) % agents);
    return other === undefined ? Number.NaN : reference[other];
  });
}

/** Distance to the nearest entry of a sorted array. */
export function nearest(sorted: Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  const above = low < sorted.length ? sorted[low] - value : Number.POSITIVE_INFINITY;
  const below = low > 0 ? value - sorted[low - 1] : Number.POSITIVE_INFINITY;
  return Math.min(above, below);
}

/** Each sample's advantage less the mean of its group within its policy, as the update would have taken it. */
export function demeaned(
  epoch: { rows: Int32Array; levels: readonly ((row: number) => number)[] },
  keys: Float64Array,
  reference: ArrayLike<number>,
  sample: ArrayLike<number>,
): Float64Array {
  const out = new Float64Array(reference.length).fill(Number.NaN);
  const { lists } = cellsOf(epoch.rows, (row) => epoch.levels[0](row) * 1e6 + keys[sample[row]], 1);
  for (const list of lists) {
    let mean = 0;
    for (const row of list) mean += reference[sample[row]] / list.length;
    for (const row of list) out[sample[row]] = reference[sample[row]] - mean;
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
  return high - low <= 1e-4 * Math.max(Math.abs(low), Math.abs(high));
}
