/** The choices of one policy, side by side in a few long arrays: as an object each they would be most of what the doctor holds, and every collection of garbage would visit them. */
import { limits } from '../../limits.ts';
import type { Distribution } from '../../pairing/scoring.ts';

/** Log-probabilities of a row's choices, and which was taken. */
export interface Choice {
  iteration: number;
  logp: Float64Array;
  /** The same without the mask, where it forbids some. */
  free: Float64Array | null;
  action: number;
}

/** How far choices are from what chance gives: the sum of what they exceed their mean by, its variance, and the greatest part of one row. */
export interface Excess {
  sum: number;
  variance: number;
  greatest: number;
}

/** By likelihood, and by the first and the last legal place. */
export type Chances = readonly [likelihood: Excess, first: Excess, last: Excess];

const none = (): Excess => ({ sum: 0, variance: 0, greatest: 0 });
export const noChances = (): Chances => [none(), none(), none()];

/** Log-probability as far down as it is counted: one choice that hardly ever comes up must not decide. */
export const counted = (logp: number) => Math.max(logp, limits.drawnLeast.value);

export class Choices {
  /** Rows that came, and of how many one is kept. */
  seen = 0;
  stride = 1;
  private iterations: number[] = [];
  private actions: number[] = [];
  /** Where each row begins, and the last ends. */
  private starts: number[] = [0];
  private masked: boolean[] = [];
  private logps = new Float64Array(0);
  private frees = new Float64Array(0);

  get length(): number {
    return this.actions.length;
  }

  /** How many log-probabilities are held. */
  get numbers(): number {
    return this.starts[this.length];
  }

  put(iteration: number, action: number, distribution: Distribution, free: Distribution | null): void {
    const from = this.numbers;
    const to = from + distribution.count;
    if (to > this.logps.length) [this.logps, this.frees] = [grown(this.logps, to), grown(this.frees, to)];
    for (let i = from; i < to; i++) {
      this.logps[i] = distribution.logp(i - from);
      if (free) this.frees[i] = free.logp(i - from);
    }
    this.iterations.push(iteration);
    this.actions.push(action);
    this.masked.push(free !== null);
    this.starts.push(to);
  }

  /** Lets every second row go, and of those to come as many. */
  thin(): void {
    const kept = this.list().filter((_, i) => i % 2 === 0);
    const { logps, frees } = this;
    [this.logps, this.frees] = [new Float64Array(logps.length), new Float64Array(frees.length)];
    [this.iterations, this.actions, this.starts, this.masked] = [[], [], [0], []];
    for (const { iteration, action, logp, free } of kept) {
      this.logps.set(logp, this.numbers);
      if (free) this.frees.set(free, this.numbers);
      this.starts.push(this.numbers + logp.length);
      this.iterations.push(iteration);
      this.actions.push(action);
      this.masked.push(free !== null);
    }
    this.stride *= 2;
  }

  list(): Choice[] {
    const part = (values: Float64Array, i: number) => values.subarray(this.starts[i], this.starts[i + 1]);
    return this.actions.map((action, i) => ({
      iteration: this.iterations[i],
      logp: part(this.logps, i),
      free: this.masked[i] ? part(this.frees, i) : null,
      action,
    }));
  }

  /** Adds what every row exceeds its mean by to each of the sums. */
  addTo(all: readonly Chances[]): void {
    const { logps, starts, actions } = this;
    for (let row = 0; row < actions.length; row++) {
      const [from, to] = [starts[row], starts[row + 1]];
      const taken = from + actions[row];
      let [total, mean, square] = [0, 0, 0];
      let [first, last, atFirst, atLast] = [-1, -1, 0, 0];
      for (let i = from; i < to; i++) {
        const logp = logps[i];
        if (!(logp > Number.NEGATIVE_INFINITY)) continue;
        const weight = Math.exp(logp);
        const value = counted(logp);
        total += weight;
        mean += weight * value;
        square += weight * value * value;
        if (first < 0) [first, atFirst] = [i, weight];
        [last, atLast] = [i, weight];
      }
      mean /= total;
      const [likelihood, firstShare, lastShare] = [counted(logps[taken]) - mean, atFirst / total, atLast / total];
      const spread = Math.max(0, square / total - mean * mean);
      for (const sums of all) {
        add(sums[0], likelihood, spread);
        add(sums[1], (taken === first ? 1 : 0) - firstShare, Math.max(0, firstShare - firstShare * firstShare));
        add(sums[2], (taken === last ? 1 : 0) - lastShare, Math.max(0, lastShare - lastShare * lastShare));
      }
    }
  }
}

function add(excess: Excess, off: number, variance: number): void {
  excess.sum += off;
  excess.variance += variance;
  excess.greatest = Math.max(excess.greatest, Math.abs(off));
}

function grown(values: Float64Array, least: number): Float64Array<ArrayBuffer> {
  const more = new Float64Array(2 * least);
  more.set(values);
  return more;
}
