/** The rows of steps as a policy loss sees them, and what the formulas that programs use make of them. */

import type { Iteration } from '../../evidence/iteration.ts';
import { replayedRows } from '../../evidence/steps/step-stats.ts';
import { type LossFormName, type LossRow, lossForm, lossFormNames } from './loss-formula.ts';

export interface WeighedRow extends LossRow {
  weight: number;
}

/** A formula of rows, or the mean over all pairs of a ratio with an advantage. */
export type Form = LossFormName | 'all-pairs';
export const forms: readonly Form[] = [...lossFormNames.filter((name) => !lossForm(name).byGradient), 'all-pairs'];

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
  const middle = Math.ceil(rows.length / 2);
  const of = (part: readonly WeighedRow[]) =>
    form === 'all-pairs' ? -pairsOf(part, clip) : -meanOf(part, (row) => lossForm(form).value(row, clip));
  const means = [of(rows), (of(rows.slice(0, middle)) + of(rows.slice(middle))) / 2];
  // Either sign of what is only ever positive: nobody can say which one was meant.
  return form === 'absolute' || form === 'squared' ? [...means, ...means.map((mean) => -mean)] : means;
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

/** The mean of the surrogate over all pairs of a ratio with an advantage. */
function pairsOf(rows: readonly WeighedRow[], clip: number): number {
  const gains = meanOf(rows, ({ advantage }) => Math.max(0, advantage));
  const losses = meanOf(rows, ({ advantage }) => Math.min(0, advantage));
  const smaller = meanOf(rows, ({ ratio }) => Math.min(ratio, 1 + clip));
  const larger = meanOf(rows, ({ ratio }) => Math.max(ratio, 1 - clip));
  return gains * smaller + losses * larger;
}

/** The rows of some steps, or of all, as a loss sees them; without recorded advantages theirs is 0. */
export function lossRows(iteration: Iteration, wanted?: ReadonlySet<number>): Map<number, WeighedRow[]> {
  const found = new Map<number, WeighedRow[]>();
  const advantage = iteration.replays?.column('advantage');
  const fresh = iteration.replays?.measured('new_logp');
  if (!fresh) return found;
  for (const { key, row: i, old, log, weight } of replayedRows(iteration)) {
    if (wanted && !wanted.has(key)) continue;
    const row = {
      log,
      ratio: Math.exp(log),
      advantage: advantage ? advantage[i] : 0,
      probability: Math.exp(fresh[i]),
      oldProbability: Math.exp(old),
      weight,
    };
    const rows = found.get(key);
    if (rows) rows.push(row);
    else found.set(key, [row]);
  }
  return found;
}
