/** Rows that overwrite the oldest ones when full, with counts of what went in. Every column of a row lives under the same index. */

export type RingColumn = Uint8Array | Int32Array | Float32Array;

export interface RingLayout {
  readonly [column: string]: { readonly make: (size: number) => RingColumn; readonly width: number };
}

export class Ring<Layout extends RingLayout> {
  /** Rows in use. */
  size = 0;
  /** Rows that ever went in. */
  pushes = 0;
  readonly columns: { [Name in keyof Layout]: ReturnType<Layout[Name]['make']> };

  constructor(
    readonly capacity: number,
    private readonly layout: Layout,
  ) {
    this.columns = Object.fromEntries(
      Object.entries(layout).map(([name, { make, width }]) => [name, make(capacity * width)]),
    ) as { [Name in keyof Layout]: ReturnType<Layout[Name]['make']> };
  }

  /** The row to fill; the caller fills all its columns. */
  push(): number {
    const row = this.pushes % this.capacity;
    this.pushes++;
    if (this.size < this.capacity) this.size++;
    return row;
  }

  /** The row that went in `back` pushes before the latest one. */
  latest(back: number): number {
    return (this.pushes - 1 - back + this.capacity) % this.capacity;
  }

  save(): Record<string, RingColumn | Float64Array> {
    const saved: Record<string, RingColumn | Float64Array> = { counts: Float64Array.of(this.size, this.pushes) };
    for (const [name, { width }] of Object.entries(this.layout))
      saved[name] = (this.columns[name] as RingColumn).slice(0, this.size * width);
    return saved;
  }

  load(saved: Record<string, RingColumn | Float64Array>): void {
    [this.size, this.pushes] = saved.counts;
    for (const name of Object.keys(this.layout)) (this.columns[name] as RingColumn).set(saved[name]);
  }
}

export const bytes = (size: number) => new Uint8Array(size);
export const ints = (size: number) => new Int32Array(size);
export const floats = (size: number) => new Float32Array(size);

/** Copies one row of `width` values. One loop for each kind of column: the compiler makes fast code only of a loop that sees one kind. */
export function copyRow(from: RingColumn, row: number, into: RingColumn, to: number, width: number): void {
  if (from instanceof Float32Array) copyFloats(from, row * width, into as Float32Array, to * width, width);
  else if (from instanceof Uint8Array) copyBytes(from, row * width, into as Uint8Array, to * width, width);
  else copyInts(from, row * width, into as Int32Array, to * width, width);
}

function copyFloats(from: Float32Array, source: number, into: Float32Array, target: number, count: number): void {
  for (let i = 0; i < count; i++) into[target + i] = from[source + i];
}

function copyBytes(from: Uint8Array, source: number, into: Uint8Array, target: number, count: number): void {
  for (let i = 0; i < count; i++) into[target + i] = from[source + i];
}

function copyInts(from: Int32Array, source: number, into: Int32Array, target: number, count: number): void {
  for (let i = 0; i < count; i++) into[target + i] = from[source + i];
}
