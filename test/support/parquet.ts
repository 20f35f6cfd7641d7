/** Helps of the Parquet tests: files in memory, random tables, and equality to the last bit. */

import fc from 'fast-check';
import { expect } from 'vitest';
import type { Column, NumberColumn, Values } from '../../src/recording/column.ts';
import {
  type ByteSource,
  type NamedColumn,
  openParquet,
  type ReadColumn,
  type ReadOptions,
} from '../../src/recording/parquet/index.ts';

export function memory(bytes: Uint8Array, name = 'x.parquet'): ByteSource {
  return { name, size: bytes.length, read: async (start, end) => bytes.slice(start, end) };
}

export async function readAll(bytes: Uint8Array, options: ReadOptions = {}): Promise<Map<string, ReadColumn>[]> {
  const table = await openParquet(memory(bytes), options);
  const names = table.columns.map((column) => column.name);
  const groups: Map<string, ReadColumn>[] = [];
  for (let group = 0; group < table.rowGroups.length; group++) groups.push(await table.readColumns(names, group));
  return groups;
}

type TypedArray = new (length: number) => Values;

export const KINDS: { kind: 'int' | 'float' | 'bool'; array: TypedArray }[] = [
  { kind: 'int', array: Int8Array },
  { kind: 'int', array: Int16Array },
  { kind: 'int', array: Int32Array },
  { kind: 'int', array: Uint8Array },
  { kind: 'int', array: Uint16Array },
  { kind: 'int', array: Uint32Array },
  { kind: 'int', array: BigInt64Array },
  { kind: 'int', array: BigUint64Array },
  { kind: 'float', array: Float32Array },
  { kind: 'float', array: Float64Array },
  { kind: 'bool', array: Uint8Array },
];

/** Any bits at all, NaNs with payloads included, or few distinct values, which take the dictionary. */
function valuesOf(kind: string, array: TypedArray, length: number): fc.Arbitrary<Values> {
  const probe = new array(0);
  if (kind === 'bool') return fc.uint8Array({ minLength: length, maxLength: length, max: 1 });
  const size = length * probe.BYTES_PER_ELEMENT;
  const any = fc.uint8Array({ minLength: size, maxLength: size }).map((bytes) => {
    const values = new array(length);
    new Uint8Array(values.buffer).set(bytes);
    return values;
  });
  const few = fc.uint8Array({ minLength: length, maxLength: length, max: 3 }).map((bytes) => {
    const values = new array(length);
    const wide = values instanceof BigInt64Array || values instanceof BigUint64Array;
    for (let index = 0; index < length; index++) values[index] = wide ? BigInt(bytes[index]!) : bytes[index]!;
    return values;
  });
  return fc.oneof(any, few);
}

function columnOf(rows: number): fc.Arbitrary<Column> {
  const flat = fc
    .constantFrom(...KINDS)
    .chain(({ kind, array }) => valuesOf(kind, array, rows).map((values): Column => ({ kind, rows, values })));
  const ragged = fc
    .tuple(fc.constantFrom(...KINDS), fc.array(fc.integer({ min: 0, max: 5 }), { minLength: rows, maxLength: rows }))
    .chain(([{ kind, array }, lengths]) => {
      const offsets = new Int32Array(rows + 1);
      for (let row = 0; row < rows; row++) offsets[row + 1] = offsets[row]! + lengths[row]!;
      return valuesOf(kind, array, offsets[rows]!).map((values): Column => ({ kind, rows, values, offsets }));
    });
  const text = fc
    .array(fc.string({ unit: 'grapheme', maxLength: 6 }), { minLength: rows, maxLength: rows })
    .map((values): Column => ({ kind: 'text', rows, values }));
  return fc.oneof({ arbitrary: flat, weight: 3 }, { arbitrary: ragged, weight: 3 }, { arbitrary: text, weight: 1 });
}

export function tables(maxRows: number): fc.Arbitrary<NamedColumn[]> {
  return fc
    .integer({ min: 0, max: maxRows })
    .chain((rows) => fc.array(columnOf(rows), { minLength: 1, maxLength: 4 }))
    .map((columns) => columns.map((column, index) => ({ name: `column ${index}`, column })));
}

/** What a reader must give for a written column: 64-bit integers come back in the narrowest exact form. */
export function asRead(column: Column): Column {
  if (column.kind === 'text') return column;
  const { values } = column;
  if (!(values instanceof BigInt64Array || values instanceof BigUint64Array)) return column;
  const list = [...values];
  const within = (least: bigint, most: bigint) => list.every((value) => value >= least && value <= most);
  if (within(-(2n ** 31n), 2n ** 31n - 1n)) return { ...column, values: Int32Array.from(list, Number) };
  if (within(-(2n ** 53n) + 1n, 2n ** 53n - 1n)) return { ...column, values: Float64Array.from(list, Number) };
  return column;
}

function bits(values: Values): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
}

export function expectSame(found: Column | undefined, wanted: Column): void {
  expect(found?.kind).toBe(wanted.kind);
  expect(found?.rows).toBe(wanted.rows);
  if (wanted.kind === 'text') {
    expect(found?.values).toEqual(wanted.values);
    return;
  }
  const numbers = found as NumberColumn;
  expect(numbers.values.constructor).toBe(wanted.values.constructor);
  expect(Buffer.compare(bits(numbers.values), bits(wanted.values))).toBe(0);
  expect(numbers.offsets && Array.from(numbers.offsets)).toEqual(wanted.offsets && Array.from(wanted.offsets));
}

/** Rows [from, to) of a column. */
export function part(column: Column, from: number, to: number): Column {
  const rows = to - from;
  if (column.kind === 'text') return { kind: 'text', rows, values: column.values.slice(from, to) };
  const { kind, offsets, values } = column;
  if (!offsets) return { kind, rows, values: values.slice(from, to) };
  const first = offsets[from]!;
  return {
    kind,
    rows,
    values: values.slice(first, offsets[to]!),
    offsets: Int32Array.from(offsets.slice(from, to + 1), (offset) => offset - first),
  };
}
