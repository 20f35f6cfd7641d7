/** Typed arrays that grow, for rows whose number is not known before. Their room is kept when they are emptied. */
import type { Offsets, Values } from '../../recording/column.ts';

type Constructor<T> = new (size: number) => T;
type Growable = Float32Array | Float64Array | Int32Array | Uint8Array;

export class Growing<T extends Growable> {
  length = 0;
  array: T;

  constructor(private readonly kind: Constructor<T>) {
    this.array = new kind(256);
  }

  /** Makes room for so many more values and returns where they begin; the caller fills them. */
  extend(count: number): number {
    const start = this.length;
    this.length += count;
    if (this.length > this.array.length) {
      const grown = new this.kind(Math.max(this.length, this.array.length * 2));
      grown.set(this.array);
      this.array = grown;
    }
    return start;
  }

  push(value: number): void {
    const at = this.extend(1);
    this.array[at] = value;
  }

  clear(): void {
    this.length = 0;
  }

  get view(): Values {
    return this.array.subarray(0, this.length) as Values;
  }
}

export const floats = () => new Growing(Float32Array);
export const doubles = () => new Growing(Float64Array);
export const ints = () => new Growing(Int32Array);
export const bits = () => new Growing(Uint8Array);

/** A ragged column: values, and where each row's begin. */
export class Ragged<T extends Growable> {
  readonly values: Growing<T>;
  private readonly offsets = ints();

  constructor(kind: Constructor<T>) {
    this.values = new Growing(kind);
    this.offsets.push(0);
  }

  /** Makes room for so many more rows of so many values together; returns where the values begin. The caller fills them and says where each row ends. */
  extend(rows: number, values: number): number {
    this.offsets.extend(rows);
    return this.values.extend(values);
  }

  /** Where the values of row `row` end. */
  end(row: number, at: number): void {
    this.offsets.array[row + 1] = at;
  }

  /** Rows. */
  get length(): number {
    return this.offsets.length - 1;
  }

  clear(): void {
    this.values.clear();
    this.offsets.clear();
    this.offsets.push(0);
  }

  get view(): { values: Values; offsets: Offsets } {
    return { values: this.values.view, offsets: this.offsets.array.subarray(0, this.offsets.length) };
  }
}
