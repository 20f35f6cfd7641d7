/** The proof of a distribution that was not replayed: log-probabilities of the update beside those of sampling, and beside what the transform makes of the sampling logits. */
import type { Iteration } from './iteration.ts';
import { known, type ProofColumns } from './proof-columns.ts';
import { Distribution, Scores } from './scoring.ts';

export function replayProof(iteration: Iteration, transform: string): ProofColumns | null {
  const { samples, replays, before } = iteration;
  const fresh = replays?.column('new_logp');
  const stored = samples!.column('old_logp');
  const sample = replays?.column('sample');
  if (!fresh || !stored || !sample || !before) return null;
  const source = replays!.column('source_iteration');
  const used = replays!.column('old_logp');
  const rows: number[] = [];
  for (let i = 0; i < replays!.rows; i++) {
    if (!before[i] || sample[i] >= samples!.rows) continue;
    if (source && source[i] !== iteration.number && !Number.isNaN(source[i])) continue;
    rows.push(i);
  }
  const newLogp = Float64Array.from(rows, (row) => fresh[row]);
  const oldLogp = Float64Array.from(rows, (row) =>
    used && !Number.isNaN(used[row]) ? used[row] : stored[sample[row]],
  );
  const score = scorer(iteration, transform);
  const scored = score ? Float64Array.from(rows, (row) => score(row, sample[row], fresh[row])) : null;
  // Where the stored number is the odd one, the transform says what was stored; elsewhere it says what the update saw.
  const explainsOld = transform.startsWith('logits of sampling') || transform.startsWith('old_logp is');
  const columns = explainsOld
    ? { target: oldLogp, before: newLogp, after: scored }
    : { target: newLogp, before: oldLogp, after: scored };
  const labels = explainsOld
    ? { target: 'old_logp, as stored', before: 'new_logp before the first step', after: transform }
    : { target: 'new_logp before the first step', before: 'old_logp, as stored', after: transform };
  return {
    quantity: 'log-probability',
    orientation: explainsOld ? -1 : 1,
    labels,
    ...known(
      rows.map((row) => sample[row]),
      columns,
    ),
  };
}

type Score = (replay: number, sample: number, target: number) => number;

/** What the transform gives for a row; null where the recording's columns cannot tell. */
function scorer(iteration: Iteration, transform: string): Score | null {
  const action = iteration.samples!.column('action');
  const sampled = new Scores(iteration.samples!);
  const replayed = new Scores(iteration.replays!);
  const own = new Distribution();
  if (transform === 'old_logp is 0') return () => 0;
  if (!action) return null;
  const ofSampling = (sample: number, masked: boolean, temperature = sampled.temperatureOf(sample), count?: number) =>
    own.of(sampled, sample, temperature, masked, sampled, sample, count);
  if (sampled.logits) {
    const divided = /divided by ([\d.e+-]+)$/.exec(transform);
    const first = /^first K = (\d+)/.exec(transform);
    if (divided) return (_, sample) => ofSampling(sample, true, Number(divided[1])).logp(action[sample]);
    if (transform === 'unmasked distribution' || transform.endsWith('that of the unmasked distribution'))
      return (_, sample) => ofSampling(sample, false).logp(action[sample]);
    if (transform.startsWith('the mask of the update') && replayed.legal)
      return (replay, sample) =>
        own.of(sampled, sample, sampled.temperatureOf(sample), true, replayed, replay).logp(action[sample]);
    if (transform.endsWith('that of a uniform choice')) return (_, sample) => -Math.log(ofSampling(sample, true).count);
    if (transform.startsWith('log-probability recomputed'))
      return (_, sample) => ofSampling(sample, true).logp(action[sample]);
    if (first && !replayed.logits)
      return (_, sample) => {
        const cut = ofSampling(sample, true, undefined, Number(first[1]));
        return cut.logp(Math.min(action[sample], cut.count - 1));
      };
    const order = orderOf(transform);
    if (order && sampled.subset)
      return (_, sample) => {
        const { count } = ofSampling(sample, true);
        return own.logp(order(sampled, sample, action[sample], count));
      };
    if (transform === 'candidate list in another order' || transform.includes("another of the row's actions"))
      return (_, sample, target) => {
        const stored = iteration.samples!.column('old_logp')!;
        const wanted = transform.startsWith('old_logp') ? stored[sample] : target;
        const { count } = ofSampling(sample, true);
        let best = Number.NaN;
        for (let i = 0; i < count; i++)
          if (!(Math.abs(best - wanted) <= Math.abs(own.logp(i) - wanted))) best = own.logp(i);
        return best;
      };
  }
  // The list that the update really used, where it was recorded with its logits.
  const aboutLists = /list|global logits|first K/.test(transform);
  if (aboutLists && replayed.logits)
    return (replay, sample) =>
      own.of(replayed, replay, replayed.temperatureOf(replay), true).logp(Math.min(action[sample], own.count - 1));
  return null;
}

type Order = (lists: Scores, row: number, action: number, count: number) => number;

/** Which candidate stands where the action points once the list is put into that order. */
function orderOf(transform: string): Order | null {
  const ranked = (lists: Scores, row: number, place: number, count: number) => {
    for (let i = 0; i < count; i++) {
      let below = 0;
      for (let j = 0; j < count; j++) if (lists.id(row, j) < lists.id(row, i)) below++;
      if (below === place) return i;
    }
    return -1;
  };
  if (transform === 'candidate list sorted by id') return ranked;
  if (transform === 'candidate list sorted by id, descending')
    return (lists, row, action, count) => ranked(lists, row, count - 1 - action, count);
  if (transform === 'candidate list reversed') return (_lists, _row, action, count) => count - 1 - action;
  return null;
}
