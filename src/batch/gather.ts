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

/** A list of rows as runs of rows that follow one another: where each begins, and how many rows it has. */
export class Runs {
  count = 0;
  starts = new Int32Array(0);
  lengths = new Int32Array(0);

  /** Rows that follow one another: `count` of them from `start`. */
  one(start: number, count: number): this {
    if (this.starts.length === 0) this.find([0], 1);
    this.starts[0] = start;
    this.lengths[0] = count;
    this.count = count > 0 ? 1 : 0;
    return this;
  }

  /** Found once for all columns that are to follow the list. */
  find(rows: ArrayLike<number>, count: number): this {
    if (this.starts.length < count) {
      this.starts = new Int32Array(count);
      this.lengths = new Int32Array(count);
    }
    const { starts, lengths } = this;
    let runs = 0;
    for (let i = 0, end = 0; i < count; i = end) {
      const start = rows[i];
      for (end = i + 1; end < count && rows[end] === start + end - i; ) end++;
      starts[runs] = start;
      lengths[runs++] = end - i;
    }
    this.count = runs;
    return this;
  }
}

/** Copies whole rows of `width` values, run after run, to row `at` and on. */
export function copyRows(into: ColumnArray, at: number, from: ColumnArray, runs: Runs, width: number): void {
  if (width === 0 || runs.count === 0) return;
  if (into instanceof Uint8Array) copyBytes(into, at * width, from as Uint8Array, runs, width);
  else {
    const words = (width * into.BYTES_PER_ELEMENT) / 4;
    copyWords(wordsOf(into), at * words, wordsOf(from), runs, words);
  }
}

/** The same memory as words of four bytes, which a copy need not understand. */
function wordsOf({ buffer, byteOffset, byteLength }: ColumnArray): Int32Array {
  return new Int32Array(buffer, byteOffset, byteLength / 4);
}

function copyWords(into: Int32Array, target: number, from: Int32Array, runs: Runs, width: number): void {
  const { starts, lengths, count } = runs;
  for (let run = 0; run < count; run++) {
    const source = starts[run] * width;
    const values = lengths[run] * width;
    if (values >= longSpan) into.set(from.subarray(source, source + values), target);
    else for (let i = 0; i < values; i++) into[target + i] = from[source + i];
    target += values;
  }
}

function copyBytes(into: Uint8Array, target: number, from: Uint8Array, runs: Runs, width: number): void {
  const { starts, lengths, count } = runs;
  for (let run = 0; run < count; run++) {
    const source = starts[run] * width;
    const values = lengths[run] * width;
    if (values >= longSpan) into.set(from.subarray(source, source + values), target);
    else for (let i = 0; i < values; i++) into[target + i] = from[source + i];
    target += values;
  }
}
