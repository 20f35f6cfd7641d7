/** Comparing a handful of runs: interquartile means, stratified bootstrap intervals and the probability of improvement (Agarwal et al., 2021). A stratum is a task; runs are drawn anew within it. */
import type { RandomStream } from './random.ts';

/** Mean of the middle half: a quarter of the values, rounded down, is left out at each end. NaN where there is none. */
export function interquartileMean(values: ArrayLike<number>): number {
  const sorted = new Float64Array(values).sort();
  const cut = Math.floor(sorted.length / 4);
  let sum = 0;
  for (let i = cut; i < sorted.length - cut; i++) sum += sorted[i];
  return sum / (sorted.length - 2 * cut);
}

export interface Interval {
  estimate: number;
  low: number;
  high: number;
}

export interface BootstrapOptions {
  stream: RandomStream;
  repeats?: number;
  /** How much of the distribution the interval holds. */
  level?: number;
}

/** Percentile interval of a statistic of several samples, each of which is drawn anew from itself. */
export function bootstrapInterval(
  samples: readonly ArrayLike<number>[],
  statistic: (samples: readonly Float64Array[]) => number,
  { stream, repeats = 2000, level = 0.95 }: BootstrapOptions,
): Interval {
  const given = samples.map((sample) => Float64Array.from(sample));
  const estimate = statistic(given);
  const drawn = given.map((sample) => new Float64Array(sample.length));
  const found = new Float64Array(repeats);
  for (let repeat = 0; repeat < repeats; repeat++) {
    for (let s = 0; s < given.length; s++)
      for (let i = 0; i < drawn[s].length; i++) drawn[s][i] = given[s][stream.below(given[s].length)];
    found[repeat] = statistic(drawn);
  }
  found.sort();
  const at = (share: number) => found[Math.max(0, Math.min(repeats - 1, Math.round(share * (repeats - 1))))];
  return { estimate, low: at((1 - level) / 2), high: at((1 + level) / 2) };
}

/** Interquartile mean over all runs of all tasks, with its stratified interval. */
export function interquartileInterval(tasks: readonly ArrayLike<number>[], options: BootstrapOptions): Interval {
  const all = new Float64Array(tasks.reduce((sum, task) => sum + task.length, 0));
  return bootstrapInterval(
    tasks,
    (drawn) => {
      let at = 0;
      for (const task of drawn) {
        all.set(task, at);
        at += task.length;
      }
      return interquartileMean(all);
    },
    options,
  );
}

/** Chance that a run of `a` beats a run of `b`, a tie counting half. */
export function superiority(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let wins = 0;
  for (let i = 0; i < a.length; i++)
    for (let j = 0; j < b.length; j++) wins += a[i] > b[j] ? 1 : a[i] === b[j] ? 0.5 : 0;
  return wins / (a.length * b.length);
}

/** Mean over tasks of the chance that a run of `a` beats one of `b`. Entry i of both is the same task. */
export function probabilityOfImprovement(
  a: readonly ArrayLike<number>[],
  b: readonly ArrayLike<number>[],
  options: BootstrapOptions,
): Interval {
  return bootstrapInterval(
    [...a, ...b],
    (drawn) => {
      let sum = 0;
      for (let task = 0; task < a.length; task++) sum += superiority(drawn[task], drawn[a.length + task]);
      return sum / a.length;
    },
    options,
  );
}
