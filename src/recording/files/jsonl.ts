/** One chunk as JSON lines: one object per row, ragged columns as arrays. NaN is null; Python's bare NaN and Infinity are understood; a file of no bytes at all is a cut-off file, an empty table is one blank line. */
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { unknownBool } from '../check/conform.ts';
import type { Chunk, Column, NumberColumn } from '../column.ts';
import { columnSpec, type Kind, tableSpec } from '../columns.ts';
import type { Budget, ByteSource } from '../source.ts';
import { excerpt, jsonText, parsePythonJson } from './json.ts';
import { lines } from './text-lines.ts';

const rowsPerChunk = 65536;
/** A chunk also ends when it holds this many numbers or cells, however few its rows are. */
const cellsPerChunk = 1 << 22;
/** More columns than any table has. */
const mostColumns = 4096;

export async function* readJsonl(
  source: ByteSource,
  table: string,
  columns: readonly string[] | undefined,
  budget: Budget,
): AsyncGenerator<Chunk> {
  if (source.size === 0)
    throw new BadInput(
      told('the file is empty; a table without rows is one blank line', '文件是空的；没有行的表应是一个空行'),
      { file: source.name },
    );
  const names = new Set<string>();
  let builder = new ChunkBuilder(table, columns, source.name, 0, names);
  let line = 0;
  let total = 0;
  for await (const text of lines(source, budget)) {
    line++;
    if (text.trim() === '') continue;
    builder.add(parseLine(text, line, source.name, table), line);
    total++;
    if (builder.rows === rowsPerChunk || builder.cells > cellsPerChunk) {
      yield builder.finish();
      builder = new ChunkBuilder(table, columns, source.name, total, names);
    }
  }
  if (builder.rows > 0 || total === 0) yield builder.finish();
}

function parseLine(text: string, line: number, file: string, table: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parsePythonJson(text);
  } catch (error) {
    if (error instanceof BadInput)
      throw new BadInput(told(`line ${line}: ${error.what}`, `第 ${line} 行：${error.what}`), { file, table });
    throw new BadInput(
      told(
        `line ${line} is not JSON (${(error as Error).message.slice(0, 120)})`,
        `第 ${line} 行不是 JSON（${(error as Error).message.slice(0, 120)}）`,
      ),
      { file, table },
    );
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new BadInput(told(`line ${line} must hold one JSON object`, `第 ${line} 行应是一个 JSON 对象`), {
      file,
      table,
    });
  }
  return value as Record<string, unknown>;
}

/** Numbers that arrive one by one. */
class Growing {
  values = new Float64Array(64);
  length = 0;

  push(value: number): void {
    if (this.length === this.values.length) {
      const larger = new Float64Array(this.length * 2);
      larger.set(this.values);
      this.values = larger;
    }
    this.values[this.length++] = value;
  }

  done(): Float64Array {
    return this.values.slice(0, this.length);
  }
}

interface Builder {
  kind: Kind;
  ragged: boolean;
  rows: number;
  numbers: Growing;
  offsets: Growing;
  texts: string[];
}

class ChunkBuilder {
  rows = 0;
  private listed = 0;
  private readonly known = new Map<string, Builder>();
  private readonly unknown = new Map<string, unknown[]>();

  constructor(
    private readonly table: string,
    private readonly wanted: readonly string[] | undefined,
    private readonly file: string,
    private readonly firstRow: number,
    /** Of all chunks of the file. */
    private readonly names: Set<string>,
  ) {}

  /** What the chunk holds so far; a column costs a cell in every row. */
  get cells(): number {
    let numbers = 0;
    for (const { numbers: own } of this.known.values()) numbers += own.length;
    return numbers + this.rows * this.unknown.size + this.listed;
  }

  add(row: Record<string, unknown>, line: number): void {
    const columns = Object.keys(row);
    for (const name of columns) this.names.add(name);
    if (this.names.size > mostColumns)
      throw new BadInput(
        told(
          `line ${line} brings the columns to more than ${mostColumns}; that is no table`,
          `到第 ${line} 行时列数超过 ${mostColumns}；这不是表`,
        ),
        {
          file: this.file,
          table: this.table,
        },
      );
    for (const spec of tableSpec(this.table)?.columns ?? []) {
      if (spec.unless && Object.hasOwn(row, spec.unless)) continue;
      if (spec.required && this.asked(spec.name) && !Object.hasOwn(row, spec.name)) {
        throw new BadInput(told(`the required column is missing in line ${line}`, `第 ${line} 行缺少必需的列`), {
          file: this.file,
          table: this.table,
          column: spec.name,
        });
      }
    }
    for (const name of columns) {
      if (!this.asked(name)) continue;
      const spec = columnSpec(this.table, name);
      if (!spec) {
        const list = this.unknown.get(name) ?? [];
        this.unknown.set(name, list);
        while (list.length < this.rows) list.push(null);
        list.push(row[name]);
        if (Array.isArray(row[name])) this.listed += row[name].length;
        continue;
      }
      let builder = this.known.get(name);
      if (!builder) {
        builder = {
          kind: spec.kind,
          ragged: spec.ragged,
          rows: 0,
          numbers: new Growing(),
          offsets: new Growing(),
          texts: [],
        };
        builder.offsets.push(0);
        this.known.set(name, builder);
      }
      this.fill(builder, this.rows);
      this.push(builder, name, row[name], line);
    }
    this.rows++;
  }

  finish(): Chunk {
    const columns = new Map<string, Column>();
    for (const [name, builder] of this.known) {
      this.fill(builder, this.rows);
      columns.set(name, finishColumn(builder));
    }
    for (const [name, values] of this.unknown) {
      while (values.length < this.rows) values.push(null);
      columns.set(name, inferColumn(values));
    }
    return { rows: this.rows, columns };
  }

  private asked(name: string): boolean {
    return this.wanted === undefined || this.wanted.includes(name);
  }

  private fill(builder: Builder, rows: number): void {
    while (builder.rows < rows) this.push(builder, '', null, 0);
  }

  private push(builder: Builder, name: string, value: unknown, line: number): void {
    const bad = (got: unknown, expected: string) =>
      new BadInput(
        told(
          `holds ${excerpt(got)} where ${expected} is expected (line ${line})`,
          `含 ${excerpt(got)}，而应是${expected}（第 ${line} 行）`,
        ),
        {
          file: this.file,
          table: this.table,
          column: name,
          row: this.firstRow + this.rows,
        },
      );
    builder.rows++;
    if (builder.kind === 'text') {
      if (typeof value !== 'string' && value !== null) throw bad(value, told('text', '文本'));
      builder.texts.push(value ?? '');
      return;
    }
    const number = (item: unknown): number => {
      if (typeof item === 'number') return item;
      if (item === null || item === 'NaN') return Number.NaN;
      if (typeof item === 'boolean') return item ? 1 : 0;
      if (item === 'Infinity') return Number.POSITIVE_INFINITY;
      if (item === '-Infinity') return Number.NEGATIVE_INFINITY;
      throw bad(item, told('a number', '数字'));
    };
    if (builder.ragged) {
      if (Array.isArray(value)) for (const item of value.flat(4)) builder.numbers.push(number(item));
      else if (value !== null) throw bad(value, told('a list', '列表'));
      builder.offsets.push(builder.numbers.length);
    } else if (Array.isArray(value) && value.length === 1) builder.numbers.push(number(value[0]));
    else builder.numbers.push(number(value));
  }
}

function finishColumn(builder: Builder): Column {
  if (builder.kind === 'text') return { kind: 'text', rows: builder.rows, values: builder.texts };
  // Whole numbers and booleans are brought into their own types when the column is conformed to its specification.
  const column: NumberColumn = { kind: 'float', rows: builder.rows, values: builder.numbers.done() };
  if (builder.ragged) column.offsets = Int32Array.from(builder.offsets.done());
  return column;
}

/** A column that nobody specified: numbers, truth values, lists of numbers, or else text. */
function inferColumn(values: readonly unknown[]): Column {
  const rows = values.length;
  const known = values.filter((value) => value !== null);
  const isNumber = (value: unknown) =>
    typeof value === 'number' || value === 'NaN' || value === 'Infinity' || value === '-Infinity';
  const some = known.some((value) => typeof value === 'number');
  if (known.length > 0 && some && known.every(isNumber)) {
    return {
      kind: 'float',
      rows,
      values: Float64Array.from(values, (value) => (value === null ? Number.NaN : Number(value))),
    };
  }
  if (known.length === rows && rows > 0 && known.every((value) => typeof value === 'boolean')) {
    return { kind: 'bool', rows, values: Uint8Array.from(values, Number) };
  }
  if (
    known.length > 0 &&
    known.every((value) => Array.isArray(value) && value.every((item) => isNumber(item) || item === null))
  ) {
    const lists = values.map((value) => (value ?? []) as unknown[]);
    const offsets = new Int32Array(rows + 1);
    lists.forEach((list, i) => {
      offsets[i + 1] = offsets[i] + list.length;
    });
    const flat = Float64Array.from(lists.flat(), (item) => (item === null ? Number.NaN : Number(item)));
    return { kind: 'float', rows, values: flat, offsets };
  }
  const text = (value: unknown) => (typeof value === 'string' ? value : value === null ? '' : jsonText(value));
  return { kind: 'text', rows, values: values.map(text) };
}

export function encodeJsonl(chunk: Chunk): Uint8Array[] {
  const encoder = new TextEncoder();
  if (chunk.rows === 0) return [encoder.encode('\n')];
  const columns = [...chunk.columns].map(([name, column]) => {
    if (column.kind !== 'text' && (column.values instanceof BigInt64Array || column.values instanceof BigUint64Array)) {
      throw new BadInput(
        told(
          'holds whole numbers beyond 2^53, which JSON lines cannot keep; choose npz or parquet',
          '含超过 2^53 的整数，JSON 行无法保存；请选 npz 或 parquet',
        ),
        {
          column: name,
        },
      );
    }
    return { label: `${JSON.stringify(name)}:`, column };
  });
  const out: Uint8Array[] = [];
  let lines: string[] = [];
  for (let row = 0; row < chunk.rows; row++) {
    const fields = columns.map(({ label, column }) => label + field(column, row));
    lines.push(`{${fields.join(',')}}\n`);
    if (lines.length === 4096) {
      out.push(encoder.encode(lines.join('')));
      lines = [];
    }
  }
  out.push(encoder.encode(lines.join('')));
  return out;
}

function field(column: Column, row: number): string {
  if (column.kind === 'text') return JSON.stringify(column.values[row]);
  const values = column.values as Float64Array;
  if (!column.offsets) return number(values[row], column.kind);
  const items: string[] = [];
  for (let i = column.offsets[row]; i < column.offsets[row + 1]; i++) items.push(number(values[i], column.kind));
  return `[${items.join(',')}]`;
}

function number(value: number, kind: Kind): string {
  if (kind === 'bool') return value === 1 ? 'true' : value === unknownBool ? 'null' : 'false';
  if (Number.isNaN(value)) return 'null';
  // A number too large for a double is valid JSON, and every reader makes infinity of it.
  if (value === Number.POSITIVE_INFINITY) return '1e999';
  if (value === Number.NEGATIVE_INFINITY) return '-1e999';
  return Object.is(value, -0) ? '-0' : String(value);
}
