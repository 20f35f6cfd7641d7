/** The form of a proof: three columns over the same rows. Rows in which nothing can be compared are left out; an `after` may be NaN where the transform says nothing. */

export interface ProofColumns {
  /** What all three columns are, such as "advantage". */
  quantity: string;
  labels: { target: string; before: string; after: string };
  /** For log-probabilities: 1 where target less before is the log-ratio, -1 where it is minus the log-ratio. */
  orientation?: 1 | -1;
  /** Row of `samples` that each entry is about. */
  sample: Int32Array;
  /** The number to be explained. */
  target: Float64Array;
  /** What the row itself gives; it should equal the target and does not. */
  before: Float64Array;
  /** The same after the transform. */
  after: Float64Array | null;
}

/** Entries in which target and before are known. */
export function known(
  rows: ArrayLike<number>,
  columns: { target: ArrayLike<number>; before: ArrayLike<number>; after: ArrayLike<number> | null },
): Pick<ProofColumns, 'sample' | 'target' | 'before' | 'after'> {
  const kept: number[] = [];
  for (let i = 0; i < rows.length; i++)
    if (Number.isFinite(columns.target[i]) && Number.isFinite(columns.before[i])) kept.push(i);
  const pick = (column: ArrayLike<number>) => Float64Array.from(kept, (i) => column[i]);
  return {
    sample: Int32Array.from(kept, (i) => rows[i]),
    target: pick(columns.target),
    before: pick(columns.before),
    after: columns.after ? pick(columns.after) : null,
  };
}

export const everyRow = (rows: number): Int32Array => Int32Array.from({ length: rows }, (_, row) => row);
