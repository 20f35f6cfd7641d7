/** Goes through a recording one iteration at a time. Only one iteration's rows are in memory, unless a table mixes its iterations; then the whole table is. */

import type { RowJudge } from '../../../recording/check/judge.ts';
import type { Chunk, Column, NumberColumn, Offsets, Values } from '../../../recording/column.ts';
import { columnSpec, tableSpec } from '../../../recording/columns.ts';
import { concatenate } from '../../../recording/concatenate.ts';
import type { Recording } from '../../../recording/recording.ts';
import { Rows } from '../rows.ts';
import type { Ahead } from './ahead.ts';

export const streamed = ['samples', 'responses', 'replays', 'targets', 'copies', 'steps', 'tensors'] as const;

export type StreamedTable = (typeof streamed)[number];

export interface Slice {
  number: number;
  /** The last iteration that any table speaks of. */
  last: number;
  tables: Partial<Record<StreamedTable, Rows>>;
  /** The same rows as they were read. */
  chunks: Partial<Record<StreamedTable, Chunk>>;
  /** What was computed of them where they were read. */
  ahead?: Ahead;
}

/** What a policy is run on: the widest columns. */
const inputs = ['obs', 'candidate_features'];

/** Every iteration that any of the tables speaks of, in order. The judge hears which files there are, and which tables were read whole. */
export async function* iterations(recording: Recording, withInputs = false, judge?: RowJudge): AsyncGenerator<Slice> {
  const sources = (
    await Promise.all(
      [recording, ...recording.ranks].map(async (part, rank) =>
        Promise.all(
          streamed
            .filter((table) => part.tables.includes(table))
            // The first rank's steps and tensors speak for all.
            .filter((table) => rank === 0 || !summed.includes(table))
            .map(async (table) => ({
              table,
              rank,
              ...(await open(part, table, withInputs, rank === 0 ? judge : undefined)),
              head: null as Part | null,
            })),
        ),
      ),
    )
  ).flat();
  const last = sources.reduce((most, source) => Math.max(most, source.last), -1);
  const advance = async (source: (typeof sources)[number]) => {
    const step = await source.parts.next();
    source.head = step.done ? null : step.value;
  };
  for (const source of sources) await advance(source);
  for (;;) {
    let number = Number.POSITIVE_INFINITY;
    for (const { head } of sources) if (head && head.iteration < number) number = head.iteration;
    if (number === Number.POSITIVE_INFINITY) return;
    const slice: Slice = { number, last, tables: {}, chunks: {} };
    const before = new Map<number, Partial<Record<StreamedTable, number>>>();
    for (const source of sources) {
      const { head, table, rank } = source;
      if (head?.iteration !== number) continue;
      const own = slice.chunks[table];
      const rows = before.get(rank) ?? rowsOf(slice.chunks);
      before.set(rank, rows);
      const chunk = moved(head.chunk, table, rows);
      slice.chunks[table] = own ? concatenate([own, chunk], (name) => columnSpec(table, name)) : chunk;
      await advance(source);
    }
    for (const table of streamed) {
      const chunk = slice.chunks[table];
      if (chunk) slice.tables[table] = new Rows(table, chunk);
    }
    yield slice;
  }
}

/** Tables that hold figures over all ranks. */
const summed: readonly StreamedTable[] = ['steps', 'tensors'];

/** Columns of a rank that count rows of its own part. */
const pointers: Partial<Record<StreamedTable, readonly [column: string, into: StreamedTable]>> = {
  replays: ['sample', 'samples'],
  responses: ['rewarded_as', 'responses'],
};

const rowsOf = (chunks: Slice['chunks']) =>
  Object.fromEntries(streamed.map((table) => [table, chunks[table]?.rows ?? 0])) as Record<StreamedTable, number>;

/** The same rows with what points to rows moved behind those of the ranks before. */
function moved(chunk: Chunk, table: StreamedTable, before: Partial<Record<StreamedTable, number>>): Chunk {
  const [name, into] = pointers[table] ?? [];
  const column = name ? chunk.columns.get(name) : undefined;
  const by = into ? (before[into] ?? 0) : 0;
  if (!name || !column || column.kind === 'text' || by === 0) return chunk;
  const values = Float64Array.from(column.values as Int32Array, (value) => value + by);
  return { rows: chunk.rows, columns: new Map([...chunk.columns, [name, { kind: 'int', rows: chunk.rows, values }]]) };
}

interface Part {
  iteration: number;
  chunk: Chunk;
}

async function open(
  recording: Recording,
  table: StreamedTable,
  withInputs: boolean,
  judge: RowJudge | undefined,
): Promise<{ parts: AsyncGenerator<Part>; last: number }> {
  const { ascending, last } = await survey(recording, table);
  const keys = (tableSpec(table)?.columns ?? []).filter(({ key }) => key).map(({ name }) => name);
  if (ascending) return { parts: parts(recording, table, judge, keys), last };
  if (judge) for await (const chunk of recording.chunks(table, keys)) judge.seeFile(table, chunk.file, chunk);
  judge?.judgeFiles(table);
  // The whole table is held in memory then, without its widest columns where they can be spared.
  const columns = (tableSpec(table)?.columns ?? [])
    .map(({ name }) => name)
    .filter((name) => withInputs || !inputs.includes(name));
  return { parts: sortedParts(recording, table, columns), last };
}

async function survey(recording: Recording, table: StreamedTable): Promise<{ ascending: boolean; last: number }> {
  let latest = -1;
  let last = -1;
  let ascending = true;
  for await (const chunk of recording.chunks(table, ['iteration'])) {
    const values = (chunk.columns.get('iteration') as NumberColumn | undefined)?.values;
    for (let i = 0; values && i < values.length; i++) {
      const value = Number(values[i]);
      if (value < latest) ascending = false;
      if (value > last) last = value;
      latest = value;
    }
  }
  return { ascending, last };
}

async function* parts(
  recording: Recording,
  table: StreamedTable,
  judge: RowJudge | undefined,
  keys: readonly string[],
): AsyncGenerator<Part> {
  let pending: Chunk[] = [];
  let current = -1;
  const flush = (): Part => {
    const chunk = pending.length === 1 ? pending[0] : concatenate(pending, (name) => columnSpec(table, name));
    pending = [];
    return { iteration: current, chunk };
  };
  for await (const chunk of recording.chunks(table)) {
    if (chunk.rows === 0) continue;
    judge?.seeFile(table, chunk.file, chunk, keys);
    const values = (chunk.columns.get('iteration') as NumberColumn).values;
    let from = 0;
    for (let i = 0; i <= chunk.rows; i++) {
      if (i < chunk.rows && i > from && values[i] === values[i - 1]) continue;
      if (i === from && i < chunk.rows) continue;
      if (i > from) {
        const number = Number(values[from]);
        if (number !== current && pending.length > 0) yield flush();
        current = number;
        pending.push(from === 0 && i === chunk.rows ? chunk : slice(chunk, from, i));
        from = i;
      }
    }
  }
  if (pending.length > 0) yield flush();
  judge?.judgeFiles(table);
  judge?.whole.add(table);
}

async function* sortedParts(
  recording: Recording,
  table: StreamedTable,
  names: readonly string[],
): AsyncGenerator<Part> {
  const whole = await recording.read(table, names);
  if (whole.rows === 0) return;
  const values = (whole.columns.get('iteration') as NumberColumn).values;
  const byIteration = new Map<number, number[]>();
  for (let i = 0; i < whole.rows; i++) {
    const key = Number(values[i]);
    const list = byIteration.get(key);
    if (list) list.push(i);
    else byIteration.set(key, [i]);
  }
  for (const iteration of [...byIteration.keys()].sort((a, b) => a - b))
    yield { iteration, chunk: take(whole, byIteration.get(iteration)!) };
}

function slice(chunk: Chunk, from: number, to: number): Chunk {
  const columns = new Map<string, Column>();
  for (const [name, column] of chunk.columns) {
    const rows = to - from;
    if (column.kind === 'text') columns.set(name, { kind: 'text', rows, values: column.values.slice(from, to) });
    else if (!column.offsets) columns.set(name, { kind: column.kind, rows, values: column.values.subarray(from, to) });
    else {
      const start = column.offsets[from];
      const offsets = column.offsets.slice(from, to + 1) as Offsets;
      for (let i = 0; i < offsets.length; i++) offsets[i] -= start;
      columns.set(name, {
        kind: column.kind,
        rows,
        values: column.values.subarray(start, column.offsets[to]),
        offsets,
      });
    }
  }
  return { rows: to - from, columns };
}

function take(chunk: Chunk, rows: readonly number[]): Chunk {
  const columns = new Map<string, Column>();
  for (const [name, column] of chunk.columns) {
    if (column.kind === 'text') {
      columns.set(name, { kind: 'text', rows: rows.length, values: rows.map((row) => column.values[row]) });
      continue;
    }
    const make = column.values.constructor as new (length: number) => Values;
    const source = column.values as Float64Array;
    if (!column.offsets) {
      const values = new make(rows.length) as Float64Array;
      rows.forEach((row, i) => {
        values[i] = source[row];
      });
      columns.set(name, { kind: column.kind, rows: rows.length, values });
      continue;
    }
    const offsets = new Float64Array(rows.length + 1);
    rows.forEach((row, i) => {
      offsets[i + 1] = offsets[i] + column.offsets![row + 1] - column.offsets![row];
    });
    const values = new make(offsets[rows.length]) as Float64Array;
    rows.forEach((row, i) => {
      for (let k = 0; k < offsets[i + 1] - offsets[i]; k++) values[offsets[i] + k] = source[column.offsets![row] + k];
    });
    columns.set(name, { kind: column.kind, rows: rows.length, values, offsets });
  }
  return { rows: rows.length, columns };
}
