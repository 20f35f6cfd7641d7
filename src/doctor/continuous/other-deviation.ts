/** Which deviation gives the log-probabilities of a pass where no known form of the recorded one does: one factor, or one deviation, per dimension. Both are linear in the squared distances, and are fitted to all rows or by iteration, because a learned deviation moves in between. */
import { solve } from '../../math/linear.ts';
import { listOf } from '../evidence/keys.ts';
import { limits } from '../limits.ts';
import { ScoredWith } from '../transforms/continuous/scored-with.ts';
import { type Form, type Given, logpOf, usual } from './density.ts';
import { agrees, type Scoring } from './forms.ts';
import { GaussianLaw } from './laws.ts';

export interface Refitted {
  transform: ScoredWith;
  /** What the fit gives for each of the rows; NaN where it says nothing. */
  given: Float64Array;
}

/** `known` is the form of the other pass: what it takes off for tanh, this one does too. */
export function otherDeviation(
  rows: readonly Scoring[],
  side: 'old' | 'new',
  known: Form,
  how: Given | null,
): Refitted | null {
  const whose = side === 'old' ? 'sampled' : 'updated';
  // Where a pass did not record its own deviation, another one may be the policy's, and no slip.
  const told = rows.every((row) => row.own?.[whose] && row[whose].law instanceof GaussianLaw);
  if (!told || known.reduce !== usual.reduce || known.action !== usual.action) return null;
  for (const what of ['times', 'deviation'] as const)
    for (const group of [() => 0, ({ iteration }: Scoring) => iteration]) {
      const found = fitAll(rows, side, known, how, what, group);
      if (found) return found;
    }
  return null;
}

function fitAll(
  rows: readonly Scoring[],
  side: 'old' | 'new',
  known: Form,
  how: Given | null,
  what: 'times' | 'deviation',
  group: (row: Scoring) => number,
): Refitted | null {
  const groups = new Map<number, number[]>();
  rows.forEach((row, i) => void listOf(groups, group(row)).push(i));
  const given = new Float64Array(rows.length).fill(Number.NaN);
  let first: readonly number[] | null = null;
  let fitting = 0;
  for (const members of groups.values()) {
    const terms = members.map((i) => termsOf(rows[i], side, known, how, what));
    const unknowns = terms[0].squares.length + 1;
    // As many rows again as are needed to solve it, so that a fit could fail.
    if (members.length < Math.max(limits.fewestRows.value, limits.rowsPerUnknown.value * unknowns)) continue;
    const solved = solve(
      terms.map(({ squares }) => [...squares.map((square) => -square / 2), 1]),
      terms.map(({ rest }) => rest),
    );
    const weights = solved?.slice(0, -1);
    if (!weights?.every((weight) => weight > 0)) return null;
    const deviations = weights.map((weight) => 1 / Math.sqrt(weight));
    const logs = deviations.reduce((sum, deviation) => sum + Math.log(deviation), 0);
    members.forEach((i, at) => {
      const { squares, beside } = terms[at];
      given[i] = beside - logs - squares.reduce((sum, square, d) => sum + weights[d] * square, 0) / 2;
      if (agrees(side === 'old' ? rows[i].old : rows[i].fresh, [given[i], 0])) fitting++;
    });
    first ??= deviations;
  }
  if (!first || fitting < limits.formShare.value * rows.length) return null;
  return { transform: new ScoredWith(side, what, first), given };
}

/** Of one row: squared distances in units of what is fitted, all that does not depend on it, and what is left of the recorded number. */
function termsOf(
  scoring: Scoring,
  side: 'old' | 'new',
  known: Form,
  how: Given | null,
  what: 'times' | 'deviation',
): { squares: number[]; beside: number; rest: number } {
  const row = side === 'old' ? scoring.sampled : scoring.updated;
  const { mean, logStd } = row.law as GaussianLaw;
  const scale = (d: number) => (what === 'times' ? Math.exp(logStd[d]) : 1);
  const squares = Array.from(row.action, (value, d) => ((value - mean[d]) / scale(d)) ** 2);
  const logs = squares.reduce((sum, _, d) => sum + Math.log(scale(d)), 0);
  const squashed =
    logpOf({ ...usual, squash: known.squash, scaled: known.scaled }, row, how)[0] - logpOf(usual, row, how)[0];
  const beside = squashed - logs - (squares.length * Math.log(2 * Math.PI)) / 2;
  return { squares, beside, rest: (side === 'old' ? scoring.old : scoring.fresh) - beside };
}
