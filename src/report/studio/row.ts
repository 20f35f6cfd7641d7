/** What a list shows of a run beside its name: how it ended, a small curve, how long it took. */
import type { Curve } from './curves.ts';

export interface RunRow {
  /** Mean over the agents of the last tenth of the returns; null where there are none. */
  return: number | null;
  /** The mean return of all agents at even steps through the run. */
  spark: number[];
  iterations: number;
  /** From the first to the last reading by the clock, or as long as it was written to; null where neither is known. */
  seconds: number | null;
}

const sparkPoints = 40;

export function runRow(curves: readonly Curve[]): RunRow {
  const returns = curves.filter(({ kind }) => kind === 'return');
  // Logs name theirs themselves.
  const shown = returns.length > 0 ? returns : curves.filter(({ name }) => /return|reward/i.test(name)).slice(0, 1);
  let [iterations, first, last] = [0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { iteration, time } of curves) {
    const end = iteration[iteration.length - 1];
    if (end >= iterations) iterations = end + 1;
    for (const at of [time[0], time[time.length - 1]])
      if (Number.isFinite(at)) [first, last] = [Math.min(first, at), Math.max(last, at)];
  }
  const spark = Array.from({ length: sparkPoints }, (_, k) =>
    meanOf(shown.map(({ value }) => sliceMean(value, k / sparkPoints, (k + 1) / sparkPoints))),
  ).filter(Number.isFinite);
  const ends = meanOf(shown.map(({ value }) => sliceMean(value, 0.9, 1)));
  return {
    return: Number.isFinite(ends) ? ends : null,
    spark: spark.map((value) => Number(value.toPrecision(4))),
    iterations,
    seconds: last >= first ? last - first : null,
  };
}

function sliceMean(values: Float64Array, from: number, to: number): number {
  const start = Math.min(values.length - 1, Math.floor(from * values.length));
  return meanOf([...values.subarray(Math.max(0, start), Math.max(start + 1, Math.floor(to * values.length)))]);
}

function meanOf(values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  return finite.length === 0 ? Number.NaN : finite.reduce((sum, value) => sum + value, 0) / finite.length;
}
