/** Least squares in a few unknowns, and a line through points. Null where the columns do not tell the unknowns apart, because then any answer would be made up. */

/** `rows` holds the terms of each equation, `right` its right-hand side. */
export function solve(rows: readonly (readonly number[])[], right: readonly number[]): number[] | null {
  const unknowns = rows[0]?.length ?? 0;
  if (rows.length < unknowns || unknowns === 0) return null;
  // Columns of one length, so that a pivot says how far a column lies from the others and not how large it is.
  const scale = Array.from({ length: unknowns }, (_, i) => Math.sqrt(rows.reduce((sum, row) => sum + row[i] ** 2, 0)));
  if (scale.some((length) => !(length > 0))) return null;
  const matrix = Array.from({ length: unknowns }, (_, i) => [
    ...Array.from({ length: unknowns }, (_, j) =>
      rows.reduce((sum, row) => sum + (row[i] / scale[i]) * (row[j] / scale[j]), 0),
    ),
    rows.reduce((sum, row, at) => sum + (row[i] / scale[i]) * right[at], 0),
  ]);
  for (let column = 0; column < unknowns; column++) {
    let pivot = column;
    for (let row = column + 1; row < unknowns; row++)
      if (Math.abs(matrix[row][column]) > Math.abs(matrix[pivot][column])) pivot = row;
    if (!(Math.abs(matrix[pivot][column]) > leastPivot)) return null;
    [matrix[column], matrix[pivot]] = [matrix[pivot], matrix[column]];
    for (let row = 0; row < unknowns; row++) {
      if (row === column) continue;
      const times = matrix[row][column] / matrix[column][column];
      for (let at = column; at <= unknowns; at++) matrix[row][at] -= times * matrix[column][at];
    }
  }
  return matrix.map((row, i) => row[unknowns] / row[i] / scale[i]);
}

/** The square of the sine between a column and the others; below it rounding in single precision decides. */
const leastPivot = 1e-7;

export interface Line {
  /** Not a number where all points lie above each other. */
  slope: number;
  /** Mean of the points' first coordinates. */
  middle: number;
  at(x: number): number;
  /** How far the farthest point is from the line. */
  error: number;
}

export function lineThrough(x: readonly number[], y: readonly number[]): Line {
  const mean = (list: readonly number[]) => list.reduce((sum, value) => sum + value, 0) / list.length;
  const [middle, height] = [mean(x), mean(y)];
  let [xy, xx] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    xy += (x[i] - middle) * (y[i] - height);
    xx += (x[i] - middle) ** 2;
  }
  const slope = xx > 0 ? xy / xx : Number.NaN;
  const at = (value: number) => height + slope * (value - middle);
  return { slope, middle, at, error: x.reduce((most, value, i) => Math.max(most, Math.abs(y[i] - at(value))), 0) };
}
