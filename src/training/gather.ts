/** Gathers rows of a column by a list of row numbers. One copy of the loop for each kind of array, because the compiler makes fast code only of a loop that sees one kind. */

export type ColumnArray = Int32Array | Float32Array | Float64Array | Uint8Array;

/** From so many values on, one call that copies them all is faster than a loop. */
const longSpan = 48;

/** Copies values that lie side by side. */
export function copyFloatSpan(
  from: Float32Array,
  source: number,
  into: Float32Array,
  target: number,
  count: number,
): void {
  if (count >= longSpan) into.set(from.subarray(source, source + count), target);
  else for (let i = 0; i < count; i++) into[target + i] = from[source + i];
}

/** Copies whole rows of `width` values: the rows listed in `rows`, to row `at` and on. */
export function copyRows(
  into: ColumnArray,
  at: number,
  from: ColumnArray,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  if (width === 0 || count === 0) return;
  if (isRun(rows, count)) {
    into.set(from.subarray(rows[0] * width, (rows[0] + count) * width), at * width);
    return;
  }
  if (into instanceof Float32Array) copyFloats(into, at, from as Float32Array, rows, count, width);
  else if (into instanceof Int32Array) copyInts(into, at, from as Int32Array, rows, count, width);
  else if (into instanceof Uint8Array) copyBytes(into, at, from as Uint8Array, rows, count, width);
  else copyDoubles(into, at, from as Float64Array, rows, count, width);
}

/** Whether the list is one row after the other, as it is where a learner takes the whole batch. */
function isRun(rows: ArrayLike<number>, count: number): boolean {
  for (let i = 1; i < count; i++) if (rows[i] !== rows[i - 1] + 1) return false;
  return true;
}

/** The widest columns hold floats; here rows that follow one another go together. */
function copyFloats(
  into: Float32Array,
  at: number,
  from: Float32Array,
  rows: ArrayLike<number>,
  count: number,
  width: number,
) {
  let target = at * width;
  for (let i = 0, end = 0; i < count; i = end) {
    for (end = i + 1; end < count && rows[end] === rows[end - 1] + 1; ) end++;
    copyFloatSpan(from, rows[i] * width, into, target, (end - i) * width);
    target += (end - i) * width;
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
