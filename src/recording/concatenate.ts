/** Joins chunks of one table. Types are widened only as far as the values need; a column that a chunk lacks is unknown there. */

import { unknownBool } from './check/conform.ts';
import type { Chunk, Column, NumberColumn, Offsets, TextColumn, Values } from './column.ts';
import type { ColumnSpec } from './columns.ts';

export function concatenate(chunks: readonly Chunk[], spec: (column: string) => ColumnSpec | undefined): Chunk {
  const names = new Set(chunks.flatMap((chunk) => [...chunk.columns.keys()]));
  const rows = chunks.reduce((sum, chunk) => sum + chunk.rows, 0);
  const columns = new Map<string, Column>();
  for (const name of names) {
    const model = chunks.find((chunk) => chunk.columns.has(name))?.columns.get(name) as Column;
    const parts = chunks.map((chunk) => chunk.columns.get(name) ?? missing(model, chunk.rows));
    columns.set(name, parts.length === 1 ? parts[0] : joined(parts, rows, spec(name)?.kind));
  }
  return { rows, columns };
}

function missing(model: Column, rows: number): Column {
  if (model.kind === 'text') return { kind: 'text', rows, values: new Array<string>(rows).fill('') };
  if (model.offsets)
    return { kind: model.kind, rows, values: new (arrayType(model.values))(0), offsets: new Int32Array(rows + 1) };
  if (model.kind === 'bool') return { kind: 'bool', rows, values: new Uint8Array(rows).fill(unknownBool) };
  return { kind: model.kind, rows, values: new Float32Array(rows).fill(Number.NaN) };
}

function joined(parts: readonly Column[], rows: number, kind: Column['kind'] | undefined): Column {
  const texts = parts.filter((part): part is TextColumn => part.kind === 'text');
  if (texts.length > 0) {
    const values = parts.flatMap((part) =>
      part.kind === 'text' ? part.values : Array.from(part.values as Int32Array, String),
    );
    return { kind: 'text', rows, values };
  }
  const numbers = parts as readonly NumberColumn[];
  const length = numbers.reduce((sum, part) => sum + part.values.length, 0);
  const values = new (commonType(numbers.map((part) => part.values)))(length) as Float64Array;
  let offsets: Offsets | undefined;
  if (numbers.some((part) => part.offsets))
    offsets = length < 2 ** 31 ? new Int32Array(rows + 1) : new Float64Array(rows + 1);
  let at = 0;
  let row = 0;
  for (const part of numbers) {
    if (offsets) {
      for (let i = 0; i < part.rows; i++) offsets[row + i + 1] = at + (part.offsets ? part.offsets[i + 1] : i + 1);
    }
    values.set(part.values as Float64Array, at);
    at += part.values.length;
    row += part.rows;
  }
  const kinds = new Set(numbers.map((part) => part.kind));
  const joint =
    kind && kind !== 'text' ? kind : kinds.size === 1 ? numbers[0].kind : kinds.has('float') ? 'float' : 'int';
  return { kind: joint, rows, values, ...(offsets ? { offsets } : {}) };
}

type ValuesType = new (length: number) => Values;

function arrayType(values: Values): ValuesType {
  return values.constructor as ValuesType;
}

function commonType(parts: readonly Values[]): ValuesType {
  const types = new Set(parts.filter((part) => part.length > 0).map(arrayType));
  if (types.size === 0) return arrayType(parts[0]);
  const [first] = types;
  if (types.size === 1) return first;
  const small: unknown[] = [Int8Array, Int16Array, Int32Array, Uint8Array, Uint16Array];
  if ([...types].every((type) => small.includes(type))) return Int32Array;
  return Float64Array;
}
