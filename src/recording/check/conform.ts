/** Makes a column what its specification says, or says why it cannot be. Only the form is judged: NaN, infinity and wild numbers in measured columns are evidence and pass. */
import { told } from '../../language/language.ts';
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
        told(
          `has ${column.rows} rows where ${chunk.columns.keys().next().value} has ${chunk.rows}; all columns of a chunk must be equally long`,
          `有 ${column.rows} 行，而 ${chunk.columns.keys().next().value} 有 ${chunk.rows} 行；同一块的各列必须等长`,
        ),
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
      throw new BadInput(
        told(
          `the required column is missing; the file has ${present.join(', ') || 'no columns'}`,
          `缺少必需的列；文件里有 ${present.join('、') || '零列'}`,
        ),
        {
          file,
          table,
          column: column.name,
        },
      );
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
    throw new BadInput(
      told(
        'its offsets are empty; they need one entry more than there are rows',
        '它的 offsets 是空的；应比行数多一个',
      ),
      place,
    );
  if (offsets[0] !== 0)
    throw new BadInput(
      told(`its offsets begin with ${offsets[0]} instead of 0`, `它的 offsets 从 ${offsets[0]} 而不是 0 开始`),
      place,
    );
  for (let i = 1; i < offsets.length; i++) {
    if (!(offsets[i] >= offsets[i - 1])) {
      throw new BadInput(
        told(
          `its offsets decrease from ${offsets[i - 1]} to ${offsets[i]}`,
          `它的 offsets 从 ${offsets[i - 1]} 降到 ${offsets[i]}`,
        ),
        { ...place, row: i - 1 },
      );
    }
  }
  const last = offsets[offsets.length - 1];
  if (last !== values.length) {
    throw new BadInput(
      told(
        `its offsets end at ${last} but it has ${values.length} values`,
        `它的 offsets 到 ${last} 为止，但有 ${values.length} 个值`,
      ),
      {
        ...place,
        row: offsets.length - 2,
      },
    );
  }
}

function conformColumn(spec: ColumnSpec, column: Column, place: Place): Column {
  if (spec.kind === 'text') {
    if (column.kind === 'text') return column;
    throw new BadInput(
      told(
        `holds numbers where text is expected (or indices into manifest.names["${place.table}.${place.column}"])`,
        `是数字，而应是文本（或指向 manifest.names["${place.table}.${place.column}"] 的序号）`,
      ),
      place,
    );
  }
  if (column.kind === 'text') {
    throw new BadInput(
      told(
        `holds text such as ${JSON.stringify(column.values[0] ?? '')} where ${words[spec.kind][0]} are expected`,
        `是文本，例如 ${JSON.stringify(column.values[0] ?? '')}，而应是${words[spec.kind][1]}`,
      ),
      { ...place, row: 0 },
    );
  }
  const shaped = conformShape(spec, column, place);
  const values = conformValues(spec, shaped, place);
  if (spec.key) checkKey(values, place);
  return { kind: spec.kind, rows: shaped.rows, values, ...(shaped.offsets ? { offsets: shaped.offsets } : {}) };
}

const words = {
  int: ['whole numbers', '整数'],
  float: ['numbers', '数字'],
  bool: ['true and false, or 1 and 0,', 'true 和 false，或 1 和 0'],
} as const;

function conformShape(spec: ColumnSpec, column: NumberColumn, place: Place): NumberColumn {
  if (spec.ragged && !column.offsets) {
    throw new BadInput(
      told(
        'has one number per row where a list per row is expected (values with offsets, or a 2-D array)',
        '每行一个数字，而应每行一个列表（值加 offsets，或二维数组）',
      ),
      place,
    );
  }
  if (!spec.ragged && column.offsets) {
    // A column of shape (rows, 1) is what many programs keep by habit.
    for (let i = 0; i < column.rows; i++) {
      const length = column.offsets[i + 1] - column.offsets[i];
      if (length !== 1)
        throw new BadInput(
          told(`holds a list of ${length} where one value is expected`, `是长为 ${length} 的列表，而应是单个值`),
          { ...place, row: i },
        );
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
    throw new BadInput(
      told(
        `holds ${values[wild]}, beyond the whole numbers that are exact (2^53)`,
        `含 ${values[wild]}，超出可精确表示的整数（2^53）`,
      ),
      at(wild),
    );
  }
  if (spec.kind === 'int') {
    if (kind !== 'float') return values;
    for (let i = 0; i < values.length; i++) {
      const value = values[i];
      if (!Number.isInteger(value) && !Number.isNaN(value)) {
        throw new BadInput(told(`holds ${value} where a whole number is expected`, `含 ${value}，而应是整数`), at(i));
      }
      if (Math.abs(Number(value)) > Number.MAX_SAFE_INTEGER)
        throw new BadInput(
          told(
            `holds ${value}, beyond the whole numbers that are exact (2^53)`,
            `含 ${value}，超出可精确表示的整数（2^53）`,
          ),
          at(i),
        );
    }
    return compact(values as Float64Array);
  }
  if (values instanceof Uint8Array && flags(values)) return values;
  const out = values instanceof Uint8Array ? values : new Uint8Array(values.length);
  for (let i = 0; i < values.length; i++) {
    const value = values[i];
    if (value === 0 || value === 1) out[i] = value;
    else if (Number.isNaN(value) || (kind === 'bool' && value === unknownBool)) out[i] = unknownBool;
    else
      throw new BadInput(
        told(
          `holds ${value} where true or false, or 1 or 0, is expected`,
          `含 ${value}，而应是 true 或 false，或者 1 或 0`,
        ),
        at(i),
      );
  }
  return out;
}

/** Whether all are 0 or 1. */
function flags(values: Uint8Array): boolean {
  let bits = 0;
  for (let i = 0; i < values.length; i++) bits |= values[i];
  return bits <= 1;
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
  if (values instanceof Int32Array) {
    let signs = 0;
    for (let i = 0; i < values.length; i++) signs |= values[i];
    if (signs >= 0) return;
  }
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= 0)) {
      throw new BadInput(
        told(`holds ${values[i]}; a key must be known and not negative`, `含 ${values[i]}；键必须已知且不为负`),
        { ...place, row: i },
      );
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
