/** Runs the snapshots that belong to one iteration on its rows, before the checks look. Where logits were not recorded the policy's own take their place, unless nothing in the rows agrees with them. */
import { budgets } from '../budgets.ts';
import { replays } from '../checks/replay/policy-replay.ts';
import { limits } from '../limits.ts';
import { Distribution, Scores } from '../pairing/scoring.ts';
import type { PolicyReplayer, ReplayedRows, Snapshot } from '../policy-replay.ts';
import type { Iteration } from './iteration.ts';
import type { Run } from './run.ts';

/** Log-probabilities of the samples' actions under snapshots; NaN where there is none. */
export interface Replayed {
  /** Under the snapshot of the row's own policy and iteration. */
  own: Float64Array;
  /** Under others, tried only where the own one disagrees; `key` says which. */
  others: { key: string; logp: Float64Array }[];
  /** What the update computed before its first step. */
  fresh: Float64Array | null;
  sentences: string[];
}

/** How many earlier snapshots are tried. */
const earlier = budgets.snapshots;

export async function runPolicies(iteration: Iteration, replayer: PolicyReplayer, run: Run): Promise<void> {
  const { samples } = iteration;
  const obs = samples?.raw('obs');
  const agent = samples?.column('agent');
  const action = samples?.column('action');
  if (!samples || !obs?.offsets || !agent || !action) return;
  const names = run.policies.length > 0 ? run.policies : [...new Set(replayer.snapshots.map(({ policy }) => policy))];
  const replayed: Replayed = {
    own: new Float64Array(samples.rows).fill(Number.NaN),
    others: [],
    fresh: null,
    sentences: [],
  };
  const counts = candidateCounts(iteration);
  if (!counts) {
    if (replayer.snapshots.length > 0)
      replayed.sentences.push('samples.num_actions or samples.subset is needed to run the snapshots');
    iteration.replayed = replayed;
    return;
  }
  const lists: (ArrayLike<number> | undefined)[] = new Array(samples.rows);
  const parts: { name: string; part: ReplayedRows }[] = [];
  names.forEach((name, policy) => {
    const rows: number[] = [];
    for (let i = 0; i < samples.rows; i++)
      if ((names.length === 1 ? 0 : run.policyOf(agent[i])) === policy) rows.push(i);
    if (rows.length === 0) return;
    const part = {
      rows,
      obs,
      subset: samples.raw('subset'),
      features: samples.raw('candidate_features'),
      counts: rows.map((i) => counts[i]),
    };
    parts.push({ name, part });
  });
  for (const { name, part } of parts) {
    const snapshot = replayer.find(name, iteration.number);
    if (!snapshot) continue;
    const logits = await replayer.logits(snapshot, part);
    if (typeof logits === 'string') {
      replayed.sentences.push(logits);
      continue;
    }
    let at = 0;
    for (const [k, row] of part.rows.entries()) {
      lists[row] = logits.subarray(at, at + part.counts[k]);
      at += part.counts[k];
    }
  }
  replayed.own = logps(iteration, lists);
  replayed.fresh = firstLogps(iteration);
  await tryOthers(iteration, replayer, replayed, parts, names);
  iteration.replayed = replayed;
  if (!samples.list('logits') && trusted(iteration, replayed, lists))
    iteration.adoptLogits(lists as ArrayLike<number>[]);
}

function candidateCounts(iteration: Iteration): number[] | null {
  const samples = iteration.samples!;
  const numbers = samples.column('num_actions');
  if (numbers) return Array.from(numbers, Number);
  const lists = samples.list('subset') ?? samples.list('legal') ?? samples.list('logits');
  return lists ? Array.from({ length: samples.rows }, (_, i) => lists.offsets[i + 1] - lists.offsets[i]) : null;
}

/** Log-probability of each row's action under the given logits, with the row's own mask and temperature. */
function logps(iteration: Iteration, lists: readonly (ArrayLike<number> | undefined)[]): Float64Array {
  const samples = iteration.samples!.withLists('logits', lists);
  const scores = new Scores(samples);
  const action = samples.column('action')!;
  const out = new Float64Array(samples.rows).fill(Number.NaN);
  const distribution = new Distribution();
  for (let i = 0; i < out.length; i++)
    if (lists[i] && action[i] >= 0) out[i] = distribution.of(scores, i, scores.temperatureOf(i), true).logp(action[i]);
  return out;
}

function firstLogps(iteration: Iteration): Float64Array | null {
  const { replays, before, samples } = iteration;
  const fresh = replays?.measured('new_logp');
  const sample = replays?.column('sample');
  const source = replays?.column('source_iteration');
  if (!fresh || !sample || !before) return null;
  const out = new Float64Array(samples!.rows).fill(Number.NaN);
  for (let i = 0; i < fresh.length; i++) {
    if (!before[i] || sample[i] >= out.length) continue;
    if (source && !Number.isNaN(source[i]) && source[i] !== iteration.number) continue;
    out[sample[i]] = fresh[i];
  }
  return out;
}

async function tryOthers(
  iteration: Iteration,
  replayer: PolicyReplayer,
  replayed: Replayed,
  parts: readonly { name: string; part: ReplayedRows }[],
  names: readonly string[],
): Promise<void> {
  const stored = iteration.samples!.measured('old_logp')!;
  const tried = new Map<string, (ArrayLike<number> | undefined)[]>();
  for (const { name, part } of parts) {
    const off = part.rows.filter((i) => !Number.isNaN(replayed.own[i]) && !replays(replayed.own[i], stored[i]));
    if (off.length < limits.noticedShare.value * part.rows.length || off.length === 0) continue;
    const before = replayer.snapshots
      .filter((snapshot) => snapshot.policy === name && snapshot.iteration < iteration.number)
      .sort((a, b) => b.iteration - a.iteration)
      .slice(0, earlier);
    const others: [string, Snapshot][] = before.map((snapshot) => [
      `earlier\n${name}\n${iteration.number - snapshot.iteration}`,
      snapshot,
    ]);
    for (const other of names) {
      const snapshot = other === name ? undefined : replayer.find(other, iteration.number);
      if (snapshot) others.push([`other\n${other}\n`, snapshot]);
    }
    for (const [key, snapshot] of others) {
      const logits = await replayer.logits(snapshot, part);
      if (typeof logits === 'string') continue;
      const lists = tried.get(key) ?? new Array<ArrayLike<number> | undefined>(stored.length);
      tried.set(key, lists);
      let at = 0;
      for (const [k, row] of part.rows.entries()) {
        lists[row] = logits.subarray(at, at + part.counts[k]);
        at += part.counts[k];
      }
    }
  }
  for (const [key, lists] of tried) replayed.others.push({ key, logp: logps(iteration, lists) });
}

/** Every row has logits, and half of them give what was stored or what the update computed. */
function trusted(
  iteration: Iteration,
  { own, fresh }: Replayed,
  lists: readonly (ArrayLike<number> | undefined)[],
): boolean {
  const stored = iteration.samples!.measured('old_logp')!;
  let agreeing = 0;
  for (let i = 0; i < lists.length; i++) {
    if (!lists[i]) return false;
    if (replays(own[i], stored[i]) || (fresh && replays(own[i], fresh[i]))) agreeing++;
  }
  return agreeing >= limits.most.value * lists.length;
}
