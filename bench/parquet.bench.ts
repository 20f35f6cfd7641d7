/** Our Parquet beside hyparquet and hyparquet-writer alone, on a recording's columns. Both must give what a check reads: typed arrays, and lists as values and offsets. */
import { parquetMetadata, parquetRead, type SchemaElement } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { type ColumnSource, parquetWriteBuffer } from 'hyparquet-writer';
import type { Column } from '../src/recording/column.ts';
import { type NamedColumn, openParquet, writeParquet } from '../src/recording/parquet/index.ts';
import { sampleRows } from './recording.bench.ts';
import { type Figure, figure, interleaved } from './support.ts';

const kinds = {
  'integer keys': ['iteration', 'episode', 't', 'agent'],
  measurements: ['old_logp', 'reward', 'value', 'advantage'],
  lists: ['subset', 'legal', 'logits'],
} as const;

const basic = { int: 'INT32', float: 'FLOAT', bool: 'BOOLEAN', text: 'BYTE_ARRAY' } as const;

/** Processor time, because other programs may run beside the bench. */
async function spent(work: () => Promise<unknown> | unknown): Promise<number> {
  const begun = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / 1e6;
}

/** Lists as the library takes them: one array per row. */
function rowsOf(column: Column): unknown[] {
  const { rows, values, offsets } = column as Column & { offsets?: Int32Array; values: Float32Array };
  if (!offsets) return values as unknown as unknown[];
  const isBool = column.kind === 'bool';
  return Array.from({ length: rows }, (_, i) => {
    const row = Array.from(values.subarray(offsets[i], offsets[i + 1]));
    return isBool ? row.map((value) => value === 1) : row;
  });
}

function theirWrite(columns: readonly NamedColumn[]): Uint8Array {
  const schema: SchemaElement[] = [{ name: 'root', num_children: columns.length }];
  const columnData: ColumnSource[] = columns.map(({ name, column }) => {
    const type = basic[column.kind];
    if (column.kind !== 'text' && column.offsets)
      schema.push(
        { name, repetition_type: 'REQUIRED', num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
        { name: 'element', type, repetition_type: 'REQUIRED' },
      );
    else schema.push({ name, type, repetition_type: 'REQUIRED' });
    return { name, data: rowsOf(column) as ColumnSource['data'] };
  });
  return new Uint8Array(parquetWriteBuffer({ columnData, schema, statistics: false, rowGroupSize: 131_072 }));
}

/** Read with the library alone, and brought into the form that a recording has. */
async function theirRead(bytes: Uint8Array): Promise<Map<string, Column>> {
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  const metadata = parquetMetadata(file);
  const rows = Number(metadata.num_rows);
  const pieces = new Map<string, { from: number; data: ArrayLike<unknown> }[]>();
  await parquetRead({
    file,
    metadata,
    compressors,
    onChunk: ({ columnName, columnData, rowStart }) => {
      const list = pieces.get(columnName) ?? [];
      list.push({ from: rowStart, data: columnData as ArrayLike<unknown> });
      pieces.set(columnName, list);
    },
  });
  const columns = new Map<string, Column>();
  for (const [name, list] of pieces) columns.set(name, columnOf(rows, list));
  return columns;
}

function columnOf(rows: number, pieces: { from: number; data: ArrayLike<unknown> }[]): Column {
  const first = pieces[0]?.data[0];
  if (!Array.isArray(first)) {
    const floats = pieces[0].data instanceof Float32Array;
    const values = floats ? new Float32Array(rows) : new Int32Array(rows);
    for (const { from, data } of pieces) values.set(data as ArrayLike<number>, from);
    return { kind: floats ? 'float' : 'int', rows, values };
  }
  const offsets = new Int32Array(rows + 1);
  for (const { from, data } of pieces)
    for (let i = 0; i < data.length; i++) offsets[from + i + 1] = (data[i] as unknown[]).length;
  for (let i = 0; i < rows; i++) offsets[i + 1] += offsets[i];
  const kind = typeof first[0] === 'boolean' ? 'bool' : 'int';
  const values = kind === 'bool' ? new Uint8Array(offsets[rows]) : new Float32Array(offsets[rows]);
  for (const { from, data } of pieces)
    for (let i = 0; i < data.length; i++) values.set(data[i] as number[], offsets[from + i]);
  return { kind, rows, values, offsets };
}

async function ourRead(bytes: Uint8Array): Promise<Map<string, Column>> {
  const read = async (from: number, to: number) => bytes.subarray(from, to);
  const file = await openParquet({ name: 'bench', size: bytes.length, read });
  const names = file.columns.map(({ name }) => name);
  const columns = new Map<string, Column>();
  for (const index of file.rowGroups.keys())
    for (const [name, column] of await file.readColumns(names, index)) columns.set(name, column as Column);
  return columns;
}

export async function bench(say: (line: string) => void, rows = 300_000): Promise<Figure[]> {
  const all = sampleRows(rows);
  const figures: Figure[] = [];
  for (const [kind, names] of Object.entries(kinds)) {
    say(`${kind}: ${rows} rows beside hyparquet ...`);
    const columns = names.map((name) => ({ name, column: all.get(name) as Column }));
    const ours = writeParquet(columns, { codec: 'snappy' });
    const theirs = theirWrite(columns);
    const [ourWrite, theirsWrite, ourOwn, theirsOwn, ourOther, theirsOther] = await interleaved(5, [
      () => spent(() => writeParquet(columns, { codec: 'snappy' })),
      () => spent(() => theirWrite(columns)),
      () => spent(() => ourRead(ours)),
      () => spent(() => theirRead(ours)),
      () => spent(() => ourRead(theirs)),
      () => spent(() => theirRead(theirs)),
    ]);
    const ms = (ours: number, other: number) => `${(ours * 1000).toFixed(0)} and ${(other * 1000).toFixed(0)} ms`;
    figures.push(
      figure(
        `${kind}: writing, hyparquet-writer's time`,
        theirsWrite / ourWrite,
        'x ours',
        undefined,
        ms(ourWrite, theirsWrite),
      ),
      figure(
        `${kind}: reading our file, hyparquet's time`,
        theirsOwn / ourOwn,
        'x ours',
        undefined,
        ms(ourOwn, theirsOwn),
      ),
      figure(
        `${kind}: reading its file, hyparquet's time`,
        theirsOther / ourOther,
        'x ours',
        undefined,
        ms(ourOther, theirsOther),
      ),
      figure(`${kind}: size of its file`, theirs.length / ours.length, 'x ours'),
    );
  }
  return figures;
}
