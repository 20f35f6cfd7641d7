/** The order in which the kernels visit a minibatch's rows: as they lie in memory, because a cache and its prefetcher serve that better than a shuffled order. */

/** Rows are looked for among at most so many times as many. */
const sparsest = 8;

export class Visit {
  /** Row numbers in the order of the visit, and for each its place in the order that was asked for. */
  rows = new Int32Array(0);
  places = new Int32Array(0);
  /** Whether the visit differs from the order that was asked for. */
  moved = false;
  /** One bit for each row that is asked for, and its place. All bits are zero between calls. */
  private bits = new Int32Array(0);
  private placeOf = new Int32Array(0);

  /** The visit depends on the rows asked for alone: not on threads, nor on where the rows are kept. */
  plan(order: Int32Array, from: number, to: number, length: number): void {
    const n = to - from;
    if (this.rows.length < n) {
      this.rows = new Int32Array(n);
      this.places = new Int32Array(n);
    }
    this.moved = length <= sparsest * n && this.sort(order, from, to, length);
    if (this.moved) return;
    for (let i = from; i < to; i++) {
      const row = order[i];
      if (!(row >= 0 && row < length))
        throw new RangeError(`order[${i}] is ${row}; there are rows 0 to ${length - 1}.`);
    }
    this.rows.set(order.subarray(from, to));
  }

  /** False, with nothing done, where the rows rise already, or where one is not there or asked for twice. */
  private sort(order: Int32Array, from: number, to: number, length: number): boolean {
    const words = (length + 31) >>> 5;
    if (this.placeOf.length < length) {
      this.placeOf = new Int32Array(length);
      this.bits = new Int32Array(words);
    }
    const { rows, places, bits, placeOf } = this;
    let fits = true;
    let rising = true;
    let before = -1;
    for (let i = from; i < to; i++) {
      const row = order[i];
      if (!(row >= 0 && row < length)) {
        fits = false;
        break;
      }
      const word = row >>> 5;
      const bit = 1 << (row & 31);
      if ((bits[word] & bit) !== 0) fits = false;
      bits[word] |= bit;
      placeOf[row] = i - from;
      if (row <= before) rising = false;
      before = row;
    }
    if (!fits || rising) {
      bits.fill(0, 0, words);
      return false;
    }
    let k = 0;
    for (let word = 0; word < words; word++) {
      for (let left = bits[word]; left !== 0; left &= left - 1) {
        const row = (word << 5) + 31 - Math.clz32(left & -left);
        rows[k] = row;
        places[k++] = placeOf[row];
      }
      bits[word] = 0;
    }
    return true;
  }
}
