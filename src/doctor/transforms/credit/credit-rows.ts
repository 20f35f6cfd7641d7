/** What transforms of credit work on: one iteration's credit by row of `samples`, and what stood in its place. A transform gives the credit that it claims was used; NaN where it says nothing. */
import type { CreditRule } from '../../credit-rule.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Transform } from '../transform.ts';

export interface CreditRows {
  readonly iteration: Iteration;
  /** The rows' own credit. */
  readonly own: ArrayLike<number>;
  /** What was recorded in its place; only transforms that are fitted look at it. */
  readonly target: ArrayLike<number>;
  /** Rows in which the two disagree. */
  readonly wrong: ArrayLike<number>;
  /** How far apart two credits may be and still be the same. */
  readonly slack: number;
  /** Discount and lambda, where they are known. */
  readonly rule: CreditRule | null;
  /** The credit of the iteration before. */
  readonly earlier: ArrayLike<number> | null;
}

export interface CreditTransform extends Transform {
  /** Null where the recording cannot tell. */
  apply(rows: CreditRows): Float64Array | null;
  /** With its parameters fitted to these rows, where it has such; null where none fit. */
  fit?(rows: CreditRows): CreditTransform | null;
  /** Share of the usual slack that an agreement may use, where rows agree more easily by chance. */
  readonly strictness?: number;
  /** Where a row may have been given one of several credits: all of them. */
  ways?(rows: CreditRows): Float64Array[];
}
