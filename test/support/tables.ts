/** Tables of plain numbers for tests, and how they become a recording in memory. */
import { readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { columnSpec } from '../../src/recording/columns.ts';
import type { Manifest } from '../../src/recording/manifest.ts';
import { openRecording } from '../../src/recording/node.ts';
import { Recording } from '../../src/recording/recording.ts';
import { memoryStore } from '../../src/recording/source.ts';
import { type ColumnData, RecordingWriter } from '../../src/recording/writer.ts';

/** Numbers per row, or lists per row. */
export type TestColumn = number[] | number[][];
export type TestTables = Record<'samples' | 'replays' | 'steps' | 'tensors', Record<string, TestColumn>> &
  Partial<Record<'targets', Record<string, TestColumn>>>;

const recordings = resolve(import.meta.dirname, '../recordings');

/** The small recordings that scripts/recordings.mjs made from the zoo, as cause/fault; healthy ones are under healthy/. */
export const storedNames: readonly string[] = readdirSync(recordings, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.zip'))
  .map((path) => path.slice(0, -'.zip'.length).replaceAll('\\', '/'))
  .sort();

export const openStored = (name: string): Promise<Recording> => openRecording(join(recordings, `${name}.zip`));

/** A stored recording as plain numbers, so that a test can spoil one column and nothing else. */
export async function stored(name: string): Promise<{ tables: TestTables; manifest: Manifest }> {
  return plain(await openStored(name));
}

/** Any recording as plain numbers. */
export async function plain(recording: Recording): Promise<{ tables: TestTables; manifest: Manifest }> {
  const tables = {} as TestTables;
  for (const table of ['samples', 'replays', 'steps', 'tensors'] as const) {
    tables[table] = {};
    for (const [column, data] of (await recording.read(table)).columns) {
      if (data.kind === 'text') continue;
      const { values, offsets } = data;
      tables[table][column] = offsets
        ? Array.from({ length: data.rows }, (_, row) => listOf(values, offsets[row], offsets[row + 1]))
        : listOf(values, 0, values.length);
    }
  }
  return { tables, manifest: structuredClone(recording.manifest) };
}

/** By hand: stored recordings become lists hundreds of times, and `Array.from` with a callback takes many times as long. */
function listOf(values: ArrayLike<number | bigint>, from: number, to: number): number[] {
  const list = new Array<number>(to - from);
  for (let i = from; i < to; i++) list[i - from] = Number(values[i]);
  return list;
}

/** The columns of a table as plain numbers, where they are. */
export function numbers(table: Record<string, TestColumn>, name: string): number[] {
  return table[name] as number[];
}

export function lists(table: Record<string, TestColumn>, name: string): number[][] {
  return table[name] as number[][];
}

/** Writes tables into a recording in memory; columns named in `without` (as table.column) are left out. */
export async function record(
  { tables, manifest }: { tables: TestTables; manifest: Manifest },
  options: { without?: readonly string[]; chunkRows?: number } = {},
): Promise<Recording> {
  const store = memoryStore('test');
  const writer = await RecordingWriter.create(
    store,
    manifest,
    options.chunkRows ? { chunkRows: options.chunkRows } : {},
  );
  for (const [table, content] of Object.entries(tables)) {
    const rows = content.iteration?.length ?? 0;
    if (rows === 0) continue;
    const kept = Object.entries(content).filter(
      ([name, column]) => !options.without?.includes(`${table}.${name}`) && column.length === rows,
    );
    // Rows are handed over in parts, so that a chunk may end in the middle of an iteration.
    const part = options.chunkRows ?? rows;
    for (let from = 0; from < rows; from += part) {
      const to = Math.min(rows, from + part);
      await writer.append(
        table,
        Object.fromEntries(
          kept.map(([name, column]) => [name, toColumn(table, name, column.slice(from, to) as TestColumn)]),
        ),
      );
    }
  }
  await writer.close();
  return Recording.open(store);
}

function toColumn(table: string, name: string, column: TestColumn): ColumnData {
  const kind = columnSpec(table, name)?.kind;
  const Typed = kind === 'bool' ? Uint8Array : kind === 'int' ? Int32Array : Float32Array;
  if (!Array.isArray(column[0])) return new Typed(column as number[]);
  const rows = column as number[][];
  const offsets = new Int32Array(rows.length + 1);
  for (let i = 0; i < rows.length; i++) offsets[i + 1] = offsets[i] + rows[i].length;
  const values = new Typed(offsets[rows.length]);
  for (let i = 0; i < rows.length; i++) values.set(rows[i], offsets[i]);
  return { values, offsets };
}
