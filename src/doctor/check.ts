/** What a check is: one question, the columns it needs, and what it makes of them iteration by iteration. */
import type { Pair } from '../language/language.ts';
import type { Outcome } from './diagnosis.ts';
import type { Iteration } from './evidence/iteration.ts';
import type { Run } from './evidence/run.ts';
import { limits } from './limits.ts';

export type Group = 'replay' | 'credit' | 'gradient' | 'network' | 'reading' | 'finite';

export interface Check {
  readonly id: string;
  readonly group: Group;
  readonly question: Pair;
  /** Every list must be met; within a list any one column will do. */
  readonly needs: readonly (readonly string[])[];
  readonly causes: readonly string[];
  /** What it is asked of: decisions of agents, those with continuous actions or of planners alone, tokens of a language model, targets of a replay buffer, or any of them; decisions where it does not say. */
  readonly of?: 'decisions' | 'continuous' | 'planners' | 'tokens' | 'targets' | 'both';
  /** Where it is asked of choices from a list: what looks at the same of continuous actions. */
  readonly instead?: Pair;
  start(run: Run): Pass;
}

export interface Pass {
  iteration(iteration: Iteration): void;
  finish(): Outcome;
}

/** No cause is named on fewer rows than this. */
export const fewestRows = limits.fewestRows.value;
/** Log-probabilities that differ by more are not the same: beyond single-precision noise, far below what another distribution gives. */
export const logpTolerance = limits.logp.value;
/** No log-probability is this far from 0; beyond it there is nothing to compare. */
export const absurdLogp = limits.absurdLogp.value;
/** The same for credit, relative to its spread. */
export const creditTolerance = limits.credit.value;
/** A share of disagreeing rows below this is noise, or what a guard drops. */
export const noticedShare = limits.noticedShare.value;

/** Confidence of a transform that explains a share of the disagreeing rows, from how many there are: 8 rows give 0.8 at best, 800 give 0.99. */
export function confidence(explained: number, rows: number): number {
  const support = rows / (rows + 2);
  return Number((Math.max(0, Math.min(1, explained)) * support * limits.fullScore.value).toFixed(3));
}
