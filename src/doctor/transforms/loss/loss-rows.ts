/** The rows of steps as a policy loss sees them, and what the formulas that programs use make of them. */

import { firstPlace } from '../../../math/statistics.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { replayedRows } from '../../evidence/steps/step-stats.ts';
import { type LossFormName, type LossRow, lossForm, lossFormNames } from './loss-formula.ts';

export interface WeighedRow extends LossRow {
  weight: number;
  /** Whether it lies in the second half of its step's rows, those that weigh nothing among them. */
  second: boolean;
}

/** Means over all pairs of what lay in columns of unlike shape: a ratio with an advantage, or a new log-probability with an old one. */
const pairForms = ['all-pairs', 'log-pairs'] as const;
type PairForm = (typeof pairForms)[number];
/** Formulas of a step's rows together, which are no mean of what each row gives. */
const wholeForms = [...pairForms, 'smaller-mean'] as const;
export type WholeForm = (typeof wholeForms)[number];
export type Form = LossFormName | WholeForm;
export const isOfPairs = (form: Form): form is PairForm => pairForms.some((one) => one === form);
export const isWhole = (form: Form): form is WholeForm => wholeForms.some((one) => one === form);
export const forms: readonly Form[] = [...lossFormNames.filter((name) => !lossForm(name).byGradient), ...wholeForms];

/** A reported loss beside the rows that it was made of; a sum is told as a mean. */
export interface LossStep {
  told: number;
  slack: number;
  rows: readonly WeighedRow[];
  clip: number;
}

/** Whether a formula gives every step with the clip that is declared or was found. */
export const givesAll = (form: Form, steps: readonly LossStep[]): boolean =>
  steps.every(({ told, slack, rows, clip }) => given(form, rows, clip).some((one) => Math.abs(told - one) <= slack));

/** What a formula makes of a step's rows: all at once, or the mean of two halves, as where gradients are gathered over two passes. */
export function given(form: Form, rows: readonly WeighedRow[], clip: number): number[] {
  const split = (of: (part: readonly WeighedRow[]) => number) => [-of(rows), -byHalves(rows, of)];
  if (form === 'all-pairs') return split((part) => pairsOf(part, clip));
  if (form === 'smaller-mean') return split((part) => smallerMean(part, clip));
  if (form === 'log-pairs')
    return (['old', 'new'] as const).flatMap((side) => split((part) => logPairsOf(part, clip, side)));
  const means = split((part) => meanOf(part, (row) => lossForm(form).value(row, clip)));
  // Either sign of what is only ever positive: nobody can say which one was meant.
  return form === 'absolute' || form === 'squared' ? [...means, ...means.map((mean) => -mean)] : means;
}

/** The mean of what each half of a step's rows gives; of all rows where one half weighs nothing. */
export function byHalves(rows: readonly WeighedRow[], of: (part: readonly WeighedRow[]) => number): number {
  const [first, second] = [rows.filter((row) => !row.second), rows.filter((row) => row.second)];
  return first.length === 0 || second.length === 0 ? of(rows) : (of(first) + of(second)) / 2;
}

export function meanOf(rows: readonly WeighedRow[], of: (row: WeighedRow) => number): number {
  let sum = 0;
  let weight = 0;
  for (const row of rows) {
    sum += row.weight * of(row);
    weight += row.weight;
  }
  return sum / weight;
}

/** The smaller of the two means, of the ratio as it is and of the clipped one. */
function smallerMean(rows: readonly WeighedRow[], clip: number): number {
  const clipped = ({ ratio, advantage }: WeighedRow) => Math.min(Math.max(ratio, 1 - clip), 1 + clip) * advantage;
  return Math.min(
    meanOf(rows, ({ ratio, advantage }) => ratio * advantage),
    meanOf(rows, clipped),
  );
}

/** The mean of the surrogate over all pairs of a ratio with an advantage. */
function pairsOf(rows: readonly WeighedRow[], clip: number): number {
  const gains = meanOf(rows, ({ advantage }) => Math.max(0, advantage));
  const losses = meanOf(rows, ({ advantage }) => Math.min(0, advantage));
  const smaller = meanOf(rows, ({ ratio }) => Math.min(ratio, 1 + clip));
  const larger = meanOf(rows, ({ ratio }) => Math.max(ratio, 1 - clip));
  return gains * smaller + losses * larger;
}

/** The mean of the surrogate over all pairs of a new log-probability with an old one; the advantage lies beside one of the two. */
function logPairsOf(rows: readonly WeighedRow[], clip: number, beside: 'old' | 'new'): number {
  // A row's own log-probability, and how the ratio with another's grows: with the new one, against the old one.
  const sign = beside === 'old' ? 1 : -1;
  const own = ({ probability, oldProbability }: WeighedRow) =>
    Math.log(beside === 'old' ? oldProbability : probability);
  const others = rows
    .map(({ probability, oldProbability, weight }) => ({
      log: sign * Math.log(beside === 'old' ? probability : oldProbability),
      weight,
    }))
    .sort((a, b) => a.log - b.log);
  // Weights and weighed probabilities of the others up to each place, so that no pair is visited.
  const weights = new Float64Array(others.length + 1);
  const sums = new Float64Array(others.length + 1);
  others.forEach(({ log, weight }, i) => {
    weights[i + 1] = weights[i] + weight;
    sums[i + 1] = sums[i] + weight * Math.exp(log);
  });
  const last = others.length;
  return meanOf(rows, (row) => {
    const { advantage } = row;
    const scale = -sign * own(row);
    const bound = advantage >= 0 ? 1 + clip : 1 - clip;
    const clipped = Math.log(bound) - scale;
    const place = firstPlace(last, (i) => others[i].log > clipped);
    const ratios =
      advantage >= 0
        ? sums[place] * Math.exp(scale) + bound * (weights[last] - weights[place])
        : (sums[last] - sums[place]) * Math.exp(scale) + bound * weights[place];
    return (advantage * ratios) / weights[last];
  });
}

/** The rows of some steps, or of all, as a loss sees them; without recorded advantages theirs is 0. */
export function lossRows(iteration: Iteration, wanted?: ReadonlySet<number>): Map<number, WeighedRow[]> {
  const found = new Map<number, WeighedRow[]>();
  const advantage = iteration.replays?.column('advantage');
  const fresh = iteration.replays?.measured('new_logp');
  if (!fresh) return found;
  for (const { key, row: i, old, log, weight, second } of replayedRows(iteration)) {
    if (wanted && !wanted.has(key)) continue;
    const row = {
      log,
      ratio: Math.exp(log),
      advantage: advantage ? advantage[i] : 0,
      probability: Math.exp(fresh[i]),
      oldProbability: Math.exp(old),
      weight,
      second,
    };
    const rows = found.get(key);
    if (rows) rows.push(row);
    else found.set(key, [row]);
  }
  return found;
}
