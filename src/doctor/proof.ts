/** The rows that prove a cause: those that disagreed in the iteration where they differ most. Residuals and pictures are made from these arrays alone, so they cannot part. */
import { median } from '../math/statistics.ts';

export interface Proof {
  /** What the columns are, such as "advantage". */
  quantity: string;
  labels: { target: string; before: string; after: string };
  iteration: number;
  /** What a point is. */
  point: 'row' | 'step' | 'iteration';
  /** The number to be explained. */
  target: Float64Array;
  /** What it should have been. */
  before: Float64Array;
  /** What the transform makes of it; NaN where the recorded columns cannot tell. */
  after: Float64Array;
}

/** The median distance of one side from the target, over the rows in which it is known. */
export function residual(proof: Proof, side: 'before' | 'after'): number {
  return median(proof.target.map((value, i) => Math.abs(value - proof[side][i])));
}

/** Whether the transform could be worked out for the rows, and not only recognised. */
export function drawable(proof: Proof): boolean {
  return proof.after.some((value) => Number.isFinite(value));
}
