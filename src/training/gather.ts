/** Gathers rows of a column by a list of row numbers. One copy of the loop for each kind of array, because the compiler makes fast code only of a loop that sees one kind. */

export type ColumnArray = Int32Array | Float32Array | Float64Array | Uint8Array;

/** Copies whole rows of `width` values: the rows listed in `rows`, to row `at` and on. */
export function copyRows(
  into: ColumnArray,
  at: number,
  from: ColumnArray,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  if (width === 0) return;
  if (into instanceof Float32Array) copyFloats(into, at, from as Float32Array, rows, count, width);
  else if (into instanceof Int32Array) copyInts(into, at, from as Int32Array, rows, count, width);
  else if (into instanceof Uint8Array) copyBytes(into, at, from as Uint8Array, rows, count, width);
  else copyDoubles(into, at, from as Float64Array, rows, count, width);
}

function copyFloats(
  into: Float32Array,
  at: number,
  from: Float32Array,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  let target = at * width;
  for (let i = 0; i < count; i++) {
    const source = rows[i] * width;
    for (let j = 0; j < width; j++) into[target + j] = from[source + j];
    target += width;
  }
}

function copyInts(
  into: Int32Array,
  at: number,
  from: Int32Array,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  let target = at * width;
  for (let i = 0; i < count; i++) {
    const source = rows[i] * width;
    for (let j = 0; j < width; j++) into[target + j] = from[source + j];
    target += width;
  }
}

function copyBytes(
  into: Uint8Array,
  at: number,
  from: Uint8Array,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  let target = at * width;
  for (let i = 0; i < count; i++) {
    const source = rows[i] * width;
    for (let j = 0; j < width; j++) into[target + j] = from[source + j];
    target += width;
  }
}

function copyDoubles(
  into: Float64Array,
  at: number,
  from: Float64Array,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  let target = at * width;
  for (let i = 0; i < count; i++) {
    const source = rows[i] * width;
    for (let j = 0; j < width; j++) into[target + j] = from[source + j];
    target += width;
  }
}
