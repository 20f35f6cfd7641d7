/** Tables of plain numbers for tests, and how they become a recording in memory. */
import type { Manifest } from '../recording/manifest.ts';
import { Recording } from '../recording/recording.ts';
import { memoryStore } from '../recording/source.ts';
import { type ColumnData, RecordingWriter } from '../recording/writer.ts';

/** Numbers per row, or lists per row. */
export type TestColumn = number[] | number[][];
export type TestTables = Record<'samples' | 'replays' | 'steps' | 'tensors', Record<string, TestColumn>>;

const columns = {
  samples:
    'iteration episode t agent env old_logp action num_actions subset legal logits temperature reward env_reward terminated truncated value next_value advantage return group',
  replays:
    'iteration epoch minibatch sample policy new_logp old_logp advantage entropy value return weight logits subset legal temperature after_logp again_logp',
  steps:
    'iteration epoch minibatch policy loss policy_loss value_loss entropy approx_kl clip_fraction grad_norm policy_grad_norm value_grad_norm learning_rate skipped stopped delta_logits embed_std',
  tensors:
    'iteration epoch minibatch tensor grad_norm grad_nonzero delta delta_norm norm learning_rate weight_decay bound',
};

export function emptyTables(): TestTables {
  return Object.fromEntries(
    Object.entries(columns).map(([table, names]) => [
      table,
      Object.fromEntries(names.split(' ').map((name) => [name, []])),
    ]),
  ) as unknown as TestTables;
}

/** The columns of a table as plain numbers, where they are. */
export function numbers(table: Record<string, TestColumn>, name: string): number[] {
  return table[name] as number[];
}

export function lists(table: Record<string, TestColumn>, name: string): number[][] {
  return table[name] as number[][];
}

const whole = new Set(
  'iteration epoch minibatch sample policy episode t agent env action num_actions subset tensor grad_nonzero bound group'.split(
    ' ',
  ),
);
const truth = new Set('legal terminated truncated skipped stopped'.split(' '));

/** Writes tables into a recording in memory; columns named in `without` (as table.column) are left out. */
export async function record(
  { tables, manifest }: { tables: TestTables; manifest: Manifest },
  options: { without?: readonly string[]; chunkRows?: number } = {},
): Promise<Recording> {
  const store = memoryStore('simulation');
  const writer = await RecordingWriter.create(
    store,
    manifest,
    options.chunkRows ? { chunkRows: options.chunkRows } : {},
  );
  for (const [table, content] of Object.entries(tables)) {
    const data: Record<string, ColumnData> = {};
    const rows = content.iteration?.length ?? 0;
    if (rows === 0) continue;
    for (const [name, column] of Object.entries(content)) {
      if (options.without?.includes(`${table}.${name}`) || column.length !== rows) continue;
      data[name] = toColumn(name, column);
    }
    // Rows are handed over in parts, so that a chunk may end in the middle of an iteration.
    const part = options.chunkRows ?? rows;
    for (let from = 0; from < rows; from += part) {
      const to = Math.min(rows, from + part);
      await writer.append(
        table,
        Object.fromEntries(
          Object.entries(content)
            .filter(([name]) => data[name])
            .map(([name, column]) => [name, toColumn(name, column.slice(from, to) as TestColumn)]),
        ),
      );
    }
  }
  await writer.close();
  return Recording.open(store);
}

function toColumn(name: string, column: TestColumn): ColumnData {
  const make = (values: number[]) =>
    truth.has(name) ? Uint8Array.from(values) : whole.has(name) ? Int32Array.from(values) : Float32Array.from(values);
  if (!Array.isArray(column[0])) return make(column as number[]);
  const rows = column as number[][];
  const offsets = new Int32Array(rows.length + 1);
  rows.forEach((row, i) => {
    offsets[i + 1] = offsets[i] + row.length;
  });
  return { values: make(rows.flat()), offsets };
}
