/** The order in which the kernels visit a minibatch's rows: as they lie in memory, because a cache and its prefetcher serve that better than a shuffled order. */

/** Rows are looked for among at most so many times as many. */
const sparsest = 8;

export class Visit {
  /** Row numbers in the order of the visit, and for each its place in the order that was asked for. */
  rows = new Int32Array(0);
  places = new Int32Array(0);
  /** Whether the visit differs from the order that was asked for. */
  moved = false;
  /** By row: its place plus one, or 0. All zero between calls. */
  private marks = new Int32Array(0);

  /** The visit depends on the rows asked for alone: not on threads, nor on where the rows are kept. */
  plan(order: Int32Array, from: number, to: number, length: number): void {
    const n = to - from;
    if (this.rows.length <= n) {
      // One more than there are rows, for the loop that fills them.
      this.rows = new Int32Array(n + 1);
      this.places = new Int32Array(n + 1);
    }
    let rising = true;
    let before = -1;
    for (let i = from; i < to; i++) {
      const row = order[i];
      if (!(row >= 0 && row < length))
        throw new RangeError(`order[${i}] is ${row}; there are rows 0 to ${length - 1}.`);
      if (row <= before) rising = false;
      before = row;
    }
    this.moved = !rising && length <= sparsest * n && this.sort(order, from, to, length);
    if (!this.moved) this.rows.set(order.subarray(from, to));
  }

  /** False, with nothing done, where a row is asked for twice. */
  private sort(order: Int32Array, from: number, to: number, length: number): boolean {
    const { rows, places } = this;
    if (this.marks.length < length) this.marks = new Int32Array(length);
    const { marks } = this;
    let once = true;
    for (let i = from; i < to; i++) {
      if (marks[order[i]] !== 0) once = false;
      marks[order[i]] = i - from + 1;
    }
    if (!once) {
      marks.fill(0);
      return false;
    }
    let k = 0;
    for (let row = 0; row < length; row++) {
      const mark = marks[row];
      // Every row is written, and the next one over it where it is not asked for: no processor foresees a branch here.
      rows[k] = row;
      places[k] = mark - 1;
      k += -mark >>> 31;
      marks[row] = 0;
    }
    return true;
  }
}
