/** Least squares in a few unknowns. Null where the columns do not tell the unknowns apart, because then any answer would be made up. */

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
