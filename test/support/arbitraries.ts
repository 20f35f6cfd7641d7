/** Random chunks of any table, for property tests. Values are drawn so that every form that a column may have comes up, NaN and infinity included. */
import fc from 'fast-check';
import { unknownBool } from '../../src/recording/check/conform.ts';
import type { Chunk, Column, Values } from '../../src/recording/column.ts';
import { type ColumnSpec, tableSpec, tables } from '../../src/recording/columns.ts';

const int32 = fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 });
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('a', 'é', '😀', ' ', '"', '\\', ',', '\n'),
      fc.string({ minLength: 1, maxLength: 1 }),
    ),
    maxLength: 9,
  })
  .filter((value) => !value.includes('\0') && value.isWellFormed());

function numbers(spec: ColumnSpec, length: number): fc.Arbitrary<Values> {
  const list = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: length, maxLength: length });
  if (spec.kind === 'bool')
    return list(fc.constantFrom(0, 1, ...(spec.required ? [] : [unknownBool]))).map((v) => Uint8Array.from(v));
  if (spec.kind === 'int') {
    const from = (low: number, high: number) => list(fc.integer({ min: spec.key ? 0 : low, max: high }));
    const types: fc.Arbitrary<Values>[] = [
      list(spec.key ? fc.nat() : int32).map((v) => Int32Array.from(v)),
      from(-128, 127).map((v) => Int8Array.from(v)),
      from(-32768, 32767).map((v) => Int16Array.from(v)),
      from(0, 255).map((v) => Uint8Array.from(v)),
      from(0, 65535).map((v) => Uint16Array.from(v)),
      from(0, 2 ** 32 - 1).map((v) => Uint32Array.from(v)),
      from(-(2 ** 53) + 1, 2 ** 53 - 1).map((v) => Float64Array.from(v)),
    ];
    if (!spec.key && !spec.ragged)
      types.push(list(fc.constantFrom(Number.NaN, 3, -1)).map((v) => Float64Array.from(v)));
    return fc.oneof(...types);
  }
  const special = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0);
  return fc.oneof(
    list(fc.oneof(fc.float(), special)).map((v) => Float32Array.from(v)),
    list(fc.oneof(fc.double(), special)).map((v) => Float64Array.from(v)),
  );
}

function column(spec: ColumnSpec, rows: number): fc.Arbitrary<Column> {
  if (spec.kind === 'text')
    return fc.array(text, { minLength: rows, maxLength: rows }).map((values) => ({ kind: 'text', rows, values }));
  const { kind } = spec;
  if (!spec.ragged) return numbers(spec, rows).map((values) => ({ kind, rows, values }));
  return fc.array(fc.nat(4), { minLength: rows, maxLength: rows }).chain((lengths) => {
    const offsets = new Int32Array(rows + 1);
    lengths.forEach((length, i) => {
      offsets[i + 1] = offsets[i] + length;
    });
    return numbers(spec, offsets[rows]).map((values) => ({ kind, rows, values, offsets }));
  });
}

/** Some rows of one table with its required columns and any of the others. */
export function chunkOf(table: string, maxRows = 6): fc.Arbitrary<Chunk> {
  const specs = tableSpec(table)?.columns ?? [];
  return fc.nat(maxRows).chain((rows) =>
    fc
      .tuple(
        ...specs.map((spec) =>
          fc.tuple(fc.boolean(), column(spec, rows)).map(([kept, made]) => (kept || spec.required ? made : undefined)),
        ),
      )
      .map((made) => {
        const columns = new Map<string, Column>();
        specs.forEach((spec, i) => {
          const item = made[i];
          if (item) columns.set(spec.name, item);
        });
        return { rows, columns };
      }),
  );
}

export const anyTable: fc.Arbitrary<{ table: string; chunk: Chunk }> = fc
  .constantFrom(...tables.map((spec) => spec.name))
  .chain((table) => chunkOf(table).map((chunk) => ({ table, chunk })));

/** Rows as plain values, so that two encodings of the same numbers compare equal; NaN and -0 count as themselves. */
export function plain(chunk: Chunk, names = [...chunk.columns.keys()]): Record<string, unknown[]> {
  const out: Record<string, unknown[]> = {};
  for (const name of names) {
    const item = chunk.columns.get(name) as Column;
    if (item.kind === 'text') out[name] = item.values;
    else if (item.offsets)
      out[name] = Array.from({ length: item.rows }, (_, i) =>
        Array.from(item.values.slice(item.offsets?.[i], item.offsets?.[i + 1]), Number),
      );
    else out[name] = Array.from(item.values as Int32Array, Number);
  }
  return out;
}
