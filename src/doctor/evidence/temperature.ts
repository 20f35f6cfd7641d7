/** The temperature by which logits were divided in sampling where nobody recorded one. One that only sampling or only the update used is a fault, and is left to the transforms. */
import { budgets } from '../budgets.ts';
import { limits } from '../limits.ts';
import { Distribution, Scores } from '../pairing/scoring.ts';
import type { Iteration } from './iteration.ts';
import type { Numbers, Rows } from './rows.ts';
import type { Run } from './run.ts';

const kept = new WeakMap<Run, number>();

/** Lists of samples or of replays, with the temperature of sampling where it was not recorded. */
export function scoresOf(iteration: Iteration, table: 'samples' | 'replays'): Scores {
  return new Scores(iteration[table]!, usualTemperature(iteration));
}

/** 1 unless both passes divide by another number; it is looked for once in a run. */
function usualTemperature(iteration: Iteration): number {
  const { run, samples, replays } = iteration;
  const known = kept.get(run);
  if (known !== undefined) return known;
  const action = samples?.column('action');
  if (!samples || !replays || !action || samples.column('temperature') || replays.column('temperature')) return 1;
  const sample = replays.column('sample')!;
  const passes = [
    rowsOf(samples, samples.measured('old_logp'), (row) => action[row], samples.rows),
    rowsOf(replays, replays.measured('new_logp'), (row) => action[sample[row]], replays.rows, iteration.own),
  ].filter((pass) => pass !== null);
  if (passes.length === 0) return 1;
  const [first, second] = passes.map(fit);
  // One pass alone tells nothing of the other, unless most rows of the two agree. Where one is at 1 and the other is not, that is the fault.
  const told = second === undefined ? agree(iteration) : second !== 1;
  // What follows no temperature at all says nothing against the one that the other pass follows.
  const usual = Number.isNaN(first) ? (second ?? Number.NaN) : first;
  const temperature = told && Number.isFinite(usual) ? usual : 1;
  kept.set(run, temperature);
  return temperature;
}

interface Pass {
  scores: Scores;
  rows: number[];
  action: (row: number) => number;
  logp: Numbers;
}

function rowsOf(
  table: Rows,
  logp: Numbers | null,
  action: (row: number) => number,
  count: number,
  own?: Uint8Array,
): Pass | null {
  const scores = new Scores(table);
  if (!scores.logits || !logp) return null;
  const rows: number[] = [];
  const stride = Math.max(1, Math.floor(count / budgets.temperatureRows));
  for (let row = 0; row < count; row += stride)
    if (own?.[row] !== 0 && action(row) >= 0 && scores.count(row) > 1 && Math.abs(logp[row]) < limits.absurdLogp.value)
      rows.push(row);
  return rows.length < limits.fewestRows.value ? null : { scores, rows, action, logp };
}

/** The temperature that gives nearly all of the log-probabilities; NaN where none does. */
function fit({ scores, rows, action, logp }: Pass): number {
  const distribution = new Distribution();
  const gaps = (log: number) =>
    rows.map((row) => Math.abs(distribution.of(scores, row, Math.exp(log), true).logp(action(row)) - logp[row]));
  const median = (log: number) => {
    const sorted = gaps(log).sort((a, b) => a - b);
    return sorted[sorted.length >> 1];
  };
  if (median(0) < limits.logp.value) return 1;
  const { reach, step } = budgets.temperatures;
  let [best, least] = [0, Number.POSITIVE_INFINITY];
  for (let log = -reach; log <= reach; log += step) {
    const found = median(log);
    if (found < least) [best, least] = [log, found];
  }
  for (let width = step / 2; width > limits.sameTemperature.value / 100; width /= 2)
    for (const log of [best - width, best + width]) {
      const found = median(log);
      if (found < least) [best, least] = [log, found];
    }
  const right = gaps(best).filter((gap) => gap < limits.logp.value).length;
  return right >= limits.nearlyAll.value * rows.length ? Math.exp(best) : Number.NaN;
}

function agree({ samples, replays, first }: Iteration): boolean {
  const old = samples!.measured('old_logp')!;
  const fresh = replays!.measured('new_logp')!;
  const sample = replays!.column('sample')!;
  const same = first.filter((i) => Math.abs(fresh[i] - old[sample[i]]) < limits.logp.value).length;
  return first.length > 0 && same > limits.most.value * first.length;
}
