/** One iteration's part of a table, with columns in the form that loops want. A column in which nothing is known counts as missing. */
import { magnitude } from '../../math/finite.ts';
import type { Chunk, NumberColumn, Values } from '../../recording/column.ts';
import { grainOf } from './grain.ts';

export type Numbers = Int32Array | Float32Array | Float64Array | Uint8Array;

export interface Lists {
  values: Numbers;
  offsets: ArrayLike<number>;
}

const plain = (values: Values): Numbers =>
  values instanceof Int32Array ||
  values instanceof Float32Array ||
  values instanceof Float64Array ||
  values instanceof Uint8Array
    ? values
    : Float64Array.from(values as Int16Array, Number);

export class Rows {
  private readonly numbers = new Map<string, Numbers | null>();
  private readonly grains = new Map<string, number>();
  private readonly ragged = new Map<string, Lists | null>();

  constructor(
    readonly table: string,
    private readonly chunk: Chunk,
  ) {}

  get rows(): number {
    return this.chunk.rows;
  }

  /** Names of the columns in which something is known. */
  known(): string[] {
    return [...this.chunk.columns.keys()].filter((name) => {
      const column = this.chunk.columns.get(name);
      if (column?.kind === 'text') return column.values.some((text) => text !== '');
      return column?.offsets ? this.list(name) !== null : this.column(name) !== null;
    });
  }

  column(name: string): Numbers | null {
    const kept = this.numbers.get(name);
    if (kept !== undefined) return kept;
    const column = this.chunk.columns.get(name) as NumberColumn | undefined;
    let found: Numbers | null = null;
    if (column && (column.kind as string) !== 'text' && !column.offsets) {
      const values = plain(column.values);
      if (column.kind === 'bool') {
        for (let i = 0; i < values.length && !found; i++) if (!(values[i] > 1)) found = values;
      } else for (let i = 0; i < values.length && !found; i++) if (!Number.isNaN(values[i])) found = values;
    }
    this.numbers.set(name, found);
    return found;
  }

  /** Relative rounding of a column, where it was recorded in less than single precision; else 0. */
  grain(name: string): number {
    const kept = this.grains.get(name) ?? grainOf(this.column(name));
    this.grains.set(name, kept);
    return kept;
  }

  /** Like `column`, but kept even if all of it is NaN: there it is evidence. */
  measured(name: string): Numbers | null {
    const column = this.chunk.columns.get(name) as NumberColumn | undefined;
    return column && (column.kind as string) !== 'text' && !column.offsets ? plain(column.values) : null;
  }

  /** The largest absolute value of a column or of its lists, NaN where any is; null where it is not in single precision. */
  largest(name: string): number | null {
    const column = this.raw(name);
    return column && largestOf(column);
  }

  list(name: string): Lists | null {
    const kept = this.ragged.get(name);
    if (kept !== undefined) return kept;
    const column = this.chunk.columns.get(name) as NumberColumn | undefined;
    const found =
      column?.offsets && column.values.length > 0 ? { values: plain(column.values), offsets: column.offsets } : null;
    this.ragged.set(name, found);
    return found;
  }

  /** The column as it was read. */
  raw(name: string): NumberColumn | null {
    const column = this.chunk.columns.get(name);
    return column && column.kind !== 'text' ? column : null;
  }

  /** The same rows with a ragged column put in; a row without a list has an empty one. */
  withLists(name: string, lists: readonly (ArrayLike<number> | undefined)[]): Rows {
    const offsets = new Float64Array(lists.length + 1);
    // Holes are rows without a list, and forEach would pass over them.
    for (let i = 0; i < lists.length; i++) offsets[i + 1] = offsets[i] + (lists[i]?.length ?? 0);
    const values = new Float64Array(offsets[lists.length]);
    for (let i = 0; i < lists.length; i++) {
      const list = lists[i];
      if (list) values.set(list, offsets[i]);
    }
    const column: NumberColumn = { kind: 'float', rows: this.chunk.rows, values, offsets };
    return new Rows(this.table, { rows: this.chunk.rows, columns: new Map([...this.chunk.columns, [name, column]]) });
  }

  /** The same rows with other numbers in a column. */
  withNumbers(name: string, values: ArrayLike<number>): Rows {
    const column: NumberColumn = { kind: 'float', rows: this.chunk.rows, values: Float64Array.from(values) };
    return new Rows(this.table, { rows: this.chunk.rows, columns: new Map([...this.chunk.columns, [name, column]]) });
  }

  texts(name: string): string[] | null {
    const column = this.chunk.columns.get(name);
    return column?.kind === 'text' ? column.values : null;
  }
}

/** Looked for once, wherever the column is first asked. */
export function largestOf(column: NumberColumn): number | null {
  if (!(column.values instanceof Float32Array)) return null;
  column.largest ??= magnitude(column.values);
  return column.largest;
}

/** Numbers of the wanted rows. */
export function rowsWhere(count: number, wanted: (row: number) => boolean): Int32Array {
  const out = new Int32Array(count);
  let found = 0;
  for (let row = 0; row < count; row++) if (wanted(row)) out[found++] = row;
  return out.subarray(0, found);
}

/** Numbers of the rows that both columns mark with 1. */
export function markedBy(one: Uint8Array, other: Uint8Array): Int32Array {
  const out = new Int32Array(one.length);
  let found = 0;
  for (let row = 0; row < out.length; row++) if (one[row] === 1 && other[row] === 1) out[found++] = row;
  return out.slice(0, found);
}

/** The values of some rows. */
export function gather(values: ArrayLike<number>, rows: ArrayLike<number>): Float64Array {
  const out = new Float64Array(rows.length);
  for (let i = 0; i < out.length; i++) out[i] = values[rows[i]];
  return out;
}

/** At most so many of a list, from all over it. */
export const thinned = <T>(list: readonly T[], most: number): T[] =>
  list.filter((_, i) => i % Math.ceil(list.length / most) === 0);
