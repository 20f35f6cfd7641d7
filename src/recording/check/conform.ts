/** Makes a column what its specification says, or says why it cannot be. Only the form is judged: NaN, infinity and wild numbers in measured columns are evidence and pass. */
import { BadInput } from '../bad-input.ts';
import type { Chunk, Column, NumberColumn, Values } from '../column.ts';
import { type ColumnSpec, columnSpec, tableSpec } from '../columns.ts';

/** A boolean that is not known. */
export const unknownBool = 255;

export function conform(table: string, chunk: Chunk, file: string): Chunk {
  const columns = new Map<string, Column>();
  for (const [name, column] of chunk.columns) {
    if (column.rows !== chunk.rows) {
      throw new BadInput(
        `has ${column.rows} rows where ${chunk.columns.keys().next().value} has ${chunk.rows}; all columns of a chunk must be equally long`,
        { file, table, column: name },
      );
    }
    const spec = columnSpec(table, name);
    checkOffsets(column, { file, table, column: name });
    columns.set(name, spec ? conformColumn(spec, column, { file, table, column: name }) : column);
  }
  return { rows: chunk.rows, columns };
}

/** A chunk that lacks a required column says so, with what it has. */
export function checkRequired(table: string, present: readonly string[], file: string): void {
  for (const column of tableSpec(table)?.columns ?? []) {
    if (column.required && !present.includes(column.name) && !(column.unless && present.includes(column.unless))) {
      throw new BadInput(`the required column is missing; the file has ${present.join(', ') || 'no columns'}`, {
        file,
        table,
        column: column.name,
      });
    }
  }
}

interface Place {
  file: string;
  table: string;
  column: string;
}

function checkOffsets(column: Column, place: Place): void {
  if (column.kind === 'text' || !column.offsets) return;
  const { offsets, values } = column;
  if (offsets.length === 0)
    throw new BadInput('its offsets are empty; they need one entry more than there are rows', place);
  if (offsets[0] !== 0) throw new BadInput(`its offsets begin with ${offsets[0]} instead of 0`, place);
  for (let i = 1; i < offsets.length; i++) {
    if (!(offsets[i] >= offsets[i - 1])) {
      throw new BadInput(`its offsets decrease from ${offsets[i - 1]} to ${offsets[i]}`, { ...place, row: i - 1 });
    }
  }
  const last = offsets[offsets.length - 1];
  if (last !== values.length) {
    throw new BadInput(`its offsets end at ${last} but it has ${values.length} values`, {
      ...place,
      row: offsets.length - 2,
    });
  }
}

function conformColumn(spec: ColumnSpec, column: Column, place: Place): Column {
  if (spec.kind === 'text') {
    if (column.kind === 'text') return column;
    throw new BadInput(
      `holds numbers where text is expected (or indices into manifest.names["${place.table}.${place.column}"])`,
      place,
    );
  }
  if (column.kind === 'text') {
    throw new BadInput(
      `holds text such as ${JSON.stringify(column.values[0] ?? '')} where ${words[spec.kind]} are expected`,
      { ...place, row: 0 },
    );
  }
  const shaped = conformShape(spec, column, place);
  const values = conformValues(spec, shaped, place);
  if (spec.key) checkKey(values, place);
  return { kind: spec.kind, rows: shaped.rows, values, ...(shaped.offsets ? { offsets: shaped.offsets } : {}) };
}

const words = { int: 'whole numbers', float: 'numbers', bool: 'true and false, or 1 and 0,' };

function conformShape(spec: ColumnSpec, column: NumberColumn, place: Place): NumberColumn {
  if (spec.ragged && !column.offsets) {
    throw new BadInput(
      'has one number per row where a list per row is expected (values with offsets, or a 2-D array)',
      place,
    );
  }
  if (!spec.ragged && column.offsets) {
    // A column of shape (rows, 1) is what many programs keep by habit.
    for (let i = 0; i < column.rows; i++) {
      const length = column.offsets[i + 1] - column.offsets[i];
      if (length !== 1)
        throw new BadInput(`holds a list of ${length} where one value is expected`, { ...place, row: i });
    }
    return { kind: column.kind, rows: column.rows, values: column.values };
  }
  return column;
}

function conformValues(spec: ColumnSpec, { kind, values, offsets }: NumberColumn, place: Place): Values {
  const at = (i: number) => ({ ...place, row: offsets ? rowOf(offsets, i) : i });
  if (spec.kind === 'float') {
    return values instanceof Float32Array || values instanceof Float64Array
      ? values
      : Float64Array.from(values as Int32Array, Number);
  }
  if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
    const wild = (values as BigInt64Array).findIndex((value) => !Number.isSafeInteger(Number(value)));
    throw new BadInput(`holds ${values[wild]}, beyond the whole numbers that are exact (2^53)`, at(wild));
  }
  if (spec.kind === 'int') {
    if (kind !== 'float') return values;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isInteger(value) && !Number.isNaN(value)) {
        throw new BadInput(`holds ${value} where a whole number is expected`, at(i));
      }
      if (Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER)
        throw new BadInput(`holds ${value}, beyond the whole numbers that are exact (2^53)`, at(i));
    }
    return compact(values as Float64Array);
  }
  const out = values instanceof Uint8Array ? values : new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === 0 || value === 1) out[i] = value;
    else if (Number.isNaN(value) || (kind === 'bool' && value === unknownBool)) out[i] = unknownBool;
    else throw new BadInput(`holds ${value} where true or false, or 1 or 0, is expected`, at(i));
  }
  return out;
}

/** Whole numbers kept as floats, in 32 bits where they fit; unknown ones keep the doubles. */
function compact(values: Float32Array | Float64Array): Values {
  const out = new Int32Array(values.length);
  for (let i = 0; i < values.length; i++) {
    out[i] = values[i];
    if (out[i] !== values[i]) return Float64Array.from(values);
  }
  return out;
}

function checkKey(values: Values, place: Place): void {
  if (values instanceof Uint8Array || values instanceof Uint16Array || values instanceof Uint32Array) return;
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= 0)) {
      throw new BadInput(`holds ${values[i]}; a key must be known and not negative`, { ...place, row: i });
    }
  }
}

export function rowOf(offsets: ArrayLike<number>, index: number): number {
  let low = 0;
  let high = offsets.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (offsets[middle] <= index) low = middle;
    else high = middle - 1;
  }
  return low;
}
