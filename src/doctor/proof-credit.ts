/** The proof of credit that is not the row's own: recorded or used advantages beside recomputed ones, and beside those that the transform names. What entered a loss is compared in the units of the loss. */
import { advantages, flow } from '../math/advantages.ts';
import { lagged } from '../math/chains.ts';
import { spread } from '../math/statistics.ts';
import { creditTolerance } from './check.ts';
import { endRules } from './checks/credit.ts';
import { cellsOf, consensus, findClamp, type Line } from './consensus.ts';
import { type CreditRule, findCreditRule } from './credit-rule.ts';
import { groupKeys } from './groups.ts';
import type { Iteration } from './iteration.ts';
import { LineOf, swapped } from './pairing-vectors.ts';
import { everyRow, known, type ProofColumns } from './proof-columns.ts';
import type { Run } from './run.ts';
import { AffineValues } from './transforms/credit/affine-values.ts';
import type { CreditTransform } from './transforms/credit/credit-rows.ts';
import { OtherAgent } from './transforms/credit/other-agent.ts';

type Numbers = ArrayLike<number>;

export function creditProof(iteration: Iteration, transform: string, earlier: Numbers | null): ProofColumns | null {
  const recorded = iteration.samples!.column('advantage');
  const rule = iteration.credit && ruleOf(iteration);
  if (!recorded || !rule) return null;
  const truth = iteration.advantages('asRecorded', rule.gamma, rule.lambda)!;
  const vector = alternative(iteration, transform, truth, rule, earlier);
  let after: Float64Array | null = vector ? Float64Array.from(vector) : null;
  const fitted = (known: CreditTransform, own: Float64Array) =>
    known.apply({ iteration, own, target: recorded, wrong: [], slack: 0, rule, earlier });
  if (transform.startsWith('another agent')) after = fitted(new OtherAgent(), truth);
  if (transform === 'affine map of the values') after = fitted(new AffineValues(), truth);
  const by = grouping(transform);
  const rows = everyRow(truth.length);
  if (by) after = lineByGroup(iteration, by, rows, rows, truth, Float64Array.from(recorded));
  if (transform === 'a permutation of the rows')
    after = sortedTogether(truth, Float64Array.from(recorded), [() => 0]).after;
  return {
    quantity: 'advantage',
    labels: { target: 'recorded advantage', before: 'recomputed for this row', after: transform },
    ...known(rows, { target: recorded, before: truth, after }),
  };
}

export function pairingProof(iteration: Iteration, transform: string, earlier: Numbers | null): ProofColumns | null {
  const { samples, replays } = iteration;
  const used = replays?.column('advantage');
  const reference = referenceAdvantages(iteration);
  if (!used || !reference) return null;
  const sample = replays!.column('sample')!;
  const epoch = replays!.column('epoch')!;
  const weight = replays!.column('weight');
  const source = replays!.column('source_iteration');
  const foreign = (row: number) => source && source[row] !== iteration.number && !Number.isNaN(source[row]);
  const rows = everyRow(replays!.rows).filter(
    (row) => epoch[row] === epoch[0] && weight?.[row] !== 0 && sample[row] < samples!.rows && !foreign(row),
  );
  const samplesOf = rows.map((row) => sample[row]);
  const target = Float64Array.from(rows, (row) => used[row]);
  const own = Float64Array.from(samplesOf, (row) => reference[row]);
  const rule = iteration.credit && ruleOf(iteration);
  const vector = alternative(iteration, transform, Float64Array.from(reference), rule, earlier);
  const levels = normalisationLevels(iteration, rows);
  const at = (column: Numbers) => Float64Array.from(samplesOf, (row) => column[row]);
  let undone: Float64Array | null = vector ? at(vector) : null;
  if (transform.startsWith('another agent')) undone = nearestAgent(iteration, reference, samplesOf, target, levels);
  const by = grouping(transform);
  let lines = bestLines(undone ?? own, target, levels);
  let after: Float64Array | null = undone && mapped(undone, lines);
  if (transform === 'a permutation of the rows') ({ after, lines } = sortedTogether(own, target, levels));
  if (by) after = lineByGroup(iteration, by, everyRow(rows.length), samplesOf, own, target);
  return {
    quantity: 'advantage in the loss',
    labels: { target: 'advantage in the loss', before: "the row's own, normalised likewise", after: transform },
    ...known(samplesOf, { target, before: mapped(own, lines), after }),
  };
}

/** The trainer's own advantages, or recomputed ones where it kept none. */
export function referenceAdvantages(iteration: Iteration): Numbers | null {
  const recorded = iteration.samples?.column('advantage');
  if (recorded) return recorded;
  const rule = iteration.credit && ruleOf(iteration);
  return rule ? iteration.advantages('asRecorded', rule.gamma, rule.lambda) : null;
}

/** Recomputed from rewards, values and ends, whatever the trainer recorded; null where the columns are missing. */
export function recomputedAdvantages(iteration: Iteration): Numbers | null {
  const rule = iteration.credit && ruleOf(iteration);
  return rule ? iteration.advantages('asRecorded', rule.gamma, rule.lambda) : null;
}

/** Found once per run, as a search over discounts is slow. */
const rules = new WeakMap<Run, CreditRule>();

function ruleOf(iteration: Iteration): CreditRule | null {
  const { run } = iteration;
  const kept = rules.get(run);
  if (kept) return kept;
  const found = findCreditRule(run, iteration, ['asRecorded', ...endRules.map((end) => end.transform.rule)]);
  if (found) rules.set(run, found);
  return found;
}

/** The column of `samples` that a transform names; null for those that are not a column. */
function alternative(
  iteration: Iteration,
  transform: string,
  truth: Float64Array,
  rule: CreditRule | null,
  earlier: Numbers | null,
): Numbers | null {
  const { chains } = iteration;
  const lag = /^lag (-?\d+) within (\(episode, agent\)|the \(env, agent\) stream)$/.exec(transform);
  if (lag && chains) {
    const stream = lag[2] !== '(episode, agent)';
    return stream
      ? lagged(truth, chains.streamNext, chains.streamPrevious, Number(lag[1]))
      : lagged(truth, chains.next, chains.previous, Number(lag[1]));
  }
  if (transform === 'sign') return truth.map((value) => -value);
  if (transform === 'absolute value') return truth.map(Math.abs);
  if (transform === 'the return in place of the advantage') return iteration.samples!.column('return');
  if (transform === "the earlier iteration's advantages")
    return earlier && truth.map((_, row) => earlier[row] ?? Number.NaN);
  const end = endRules.find((item) => item.transform.describe('en') === transform);
  if (end && rule && iteration.credit) return iteration.advantages(end.transform.rule, rule.gamma, rule.lambda);
  const rewards = /^rewards at lag (-?\d+)/.exec(transform);
  if (rewards && rule && iteration.credit && chains) {
    const reward = lagged(iteration.credit.reward, chains.next, chains.previous, Number(rewards[1])).map((value) =>
      Number.isNaN(value) ? 0 : value,
    );
    const moved = { ...iteration.credit, reward };
    return advantages(moved, flow(moved, 'asRecorded'), rule.gamma, rule.lambda, new Float64Array(reward.length));
  }
  return null;
}

function grouping(transform: string): 'action' | 'place' | 'group' | null {
  if (transform.startsWith('mean per action')) return 'action';
  if (transform.startsWith('mean per place')) return 'place';
  return transform.startsWith('mean per group') ? 'group' : null;
}

type Level = (entry: number) => number;

/** Any normalisation is a line through the rows of one policy, agent or minibatch. */
function normalisationLevels(iteration: Iteration, rows: Int32Array): Level[] {
  const replays = iteration.replays!;
  const policy = replays.column('policy');
  const minibatch = replays.column('minibatch')!;
  const sample = replays.column('sample')!;
  const agent = iteration.samples!.column('agent')!;
  const of = (entry: number) => (policy ? policy[rows[entry]] : 0);
  return [
    of,
    (entry) => of(entry) * 4096 + agent[sample[rows[entry]]],
    (entry) => of(entry) * 1e6 + minibatch[rows[entry]],
    (entry) => (of(entry) * 1e6 + minibatch[rows[entry]]) * 4096 + agent[sample[rows[entry]]],
  ];
}

const fewestInCell = 5;

function bestLines(x: Numbers, y: Float64Array, levels: readonly Level[]): LineOf {
  const entries = everyRow(y.length);
  const slack = creditTolerance * spread(y).std;
  const clamp = findClamp(y, entries);
  let best = new LineOf(y.length);
  let most = -1;
  for (const level of levels) {
    const lines = new LineOf(y.length);
    let matched = 0;
    for (const list of cellsOf(entries, level, fewestInCell).lists) {
      const line = consensus(x, y, list, slack, clamp, 1);
      matched += line.matched;
      lines.set(list, line);
    }
    if (matched <= most + 0.005 * y.length) continue;
    [best, most] = [lines, matched];
    if (most > 0.98 * y.length) break;
  }
  return best;
}

/** A permutation leaves the sorted columns as they are: each entry is set beside the one of the same rank in its cell. */
function sortedTogether(
  x: Float64Array,
  y: Float64Array,
  levels: readonly Level[],
): { after: Float64Array; lines: LineOf } {
  const entries = everyRow(y.length);
  const slack = creditTolerance * spread(y).std;
  const clamp = findClamp(y, entries);
  let best = { after: new Float64Array(y.length).fill(Number.NaN), lines: new LineOf(y.length), matched: -1 };
  for (const level of levels) {
    const found = { after: new Float64Array(y.length).fill(Number.NaN), lines: new LineOf(y.length), matched: 0 };
    for (const list of cellsOf(entries, level, fewestInCell).lists) {
      const finite = list.filter((entry) => Number.isFinite(x[entry]) && Number.isFinite(y[entry]));
      const sortedX = Float64Array.from(finite, (entry) => x[entry]).sort();
      const byY = finite.sort((a, b) => y[a] - y[b]);
      const sortedY = Float64Array.from(byY, (entry) => y[entry]);
      const line = consensus(sortedX, sortedY, everyRow(byY.length), slack, clamp, 1);
      found.matched += line.matched;
      found.lines.set(list, line);
      byY.forEach((entry, rank) => {
        found.after[entry] = line.slope * sortedX[rank] + line.intercept;
      });
    }
    if (found.matched > best.matched + 0.005 * y.length) best = found;
    if (best.matched > 0.98 * y.length) break;
  }
  return best;
}

function mapped(x: Numbers, lines: LineOf): Float64Array {
  return Float64Array.from(x, (value, entry) => {
    const line: Line | undefined = lines.get(entry);
    return line ? line.slope * value + line.intercept : Number.NaN;
  });
}

/** The other agent's advantage that comes nearest once it is normalised as the best single swap is. */
function nearestAgent(
  iteration: Iteration,
  reference: Numbers,
  samples: Int32Array,
  target: Float64Array,
  levels: readonly Level[],
): Float64Array | null {
  let best: { lines: LineOf; matched: number } | null = null;
  for (let shift = 1; shift < Math.min(8, iteration.run.agentCount); shift++) {
    const vector = swapped(iteration, reference, shift);
    if (!vector) continue;
    const lines = bestLines(
      Float64Array.from(samples, (row) => vector[row]),
      target,
      levels,
    );
    const matched = target.reduce((sum, _, entry) => sum + (lines.get(entry)?.matched ?? 0), 0);
    if (!best || matched > best.matched) best = { lines, matched };
  }
  if (!best) return null;
  const { lines } = best;
  return Float64Array.from(samples, (row, entry) => {
    const line = lines.get(entry);
    let [nearest, gap] = [Number.NaN, Number.POSITIVE_INFINITY];
    for (const other of iteration.others(row)) {
      const distance = line ? Math.abs(line.slope * reference[other] + line.intercept - target[entry]) : 0;
      if (distance < gap) [nearest, gap] = [reference[other], distance];
    }
    return nearest;
  });
}

/** One line per group: a group's own mean (and scale) makes its rows agree. */
function lineByGroup(
  iteration: Iteration,
  by: 'action' | 'place' | 'group',
  entries: Int32Array,
  samples: Int32Array,
  x: Numbers,
  y: Float64Array,
): Float64Array | null {
  const keys = groupKeys(iteration, by);
  if (!keys) return null;
  const agent = iteration.samples!.column('agent')!;
  const clamp = { low: Number.NEGATIVE_INFINITY, high: Number.POSITIVE_INFINITY };
  const lines = new LineOf(y.length);
  for (const list of cellsOf(
    entries,
    (entry) => iteration.run.policyOf(agent[samples[entry]]) * 65536 + keys[samples[entry]],
    3,
  ).lists)
    lines.set(list, consensus(x, y, list, creditTolerance * spread(y).std, clamp, 1));
  return mapped(x, lines);
}
