/** Columns in memory: typed arrays, ragged ones as values and offsets. A 64-bit integer column is narrowed when it is read, so most code never meets a bigint. */

export type Values =
  | Int8Array
  | Int16Array
  | Int32Array
  | Uint8Array
  | Uint16Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | BigInt64Array
  | BigUint64Array;

export type Offsets = Int32Array | Float64Array;

export interface NumberColumn {
  kind: 'int' | 'float' | 'bool';
  rows: number;
  /** A boolean column is a Uint8Array of 0 and 1. */
  values: Values;
  /** Present where the column is ragged: rows + 1 entries, from 0 to the number of values. */
  offsets?: Offsets;
  /** The largest absolute value in single precision, once somebody has looked; NaN where any is. */
  largest?: number;
}

export interface TextColumn {
  kind: 'text';
  rows: number;
  values: string[];
}

export type Column = NumberColumn | TextColumn;

/** One chunk of one table: columns by name, all of the same number of rows. */
export interface Chunk {
  rows: number;
  columns: Map<string, Column>;
}
