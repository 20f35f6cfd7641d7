/** Columns of numbers that grow row by row and can be thinned. What is not known is NaN. */

export class Table<Name extends string> {
  rows = 0;
  private readonly columns: Record<Name, Float64Array>;

  constructor(readonly names: readonly Name[]) {
    this.columns = Object.fromEntries(names.map((name) => [name, unknown(1024)])) as Record<Name, Float64Array>;
  }

  /** Room for one more row, all of it NaN; its number. */
  push(): number {
    if (this.rows === this.columns[this.names[0]].length)
      for (const name of this.names) {
        const wider = unknown(2 * this.rows);
        wider.set(this.columns[name]);
        this.columns[name] = wider;
      }
    return this.rows++;
  }

  /** Valid until the next `push` or `keep`. */
  column(name: Name): Float64Array {
    return this.columns[name].subarray(0, this.rows);
  }

  at(name: Name, row: number): number {
    return this.columns[name][row];
  }

  set(name: Name, row: number, value: number): void {
    this.columns[name][row] = value;
  }

  /** Whether anything of it is known. */
  has(name: Name): boolean {
    return this.column(name).some((value) => !Number.isNaN(value));
  }

  /** Leaves only some rows; the new number of each old one, -1 where it went. */
  keep(wanted: (row: number) => boolean): Int32Array {
    const moved = new Int32Array(this.rows).fill(-1);
    let kept = 0;
    for (let row = 0; row < this.rows; row++) if (wanted(row)) moved[row] = kept++;
    for (const name of this.names) {
      const column = this.columns[name];
      for (let row = 0; row < this.rows; row++) if (moved[row] >= 0) column[moved[row]] = column[row];
      column.fill(Number.NaN, kept, this.rows);
    }
    this.rows = kept;
    return moved;
  }
}

const unknown = (rows: number) => new Float64Array(rows).fill(Number.NaN);
