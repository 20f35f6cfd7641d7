/** Checks a whole recording: every file opens, every column has its form, and what the rows point to is declared. The first few problems of each table are told, not only one. */
import { BadInput } from './bad-input.ts';
import type { NumberColumn } from './column.ts';
import { columnSpec, tableSpec } from './columns.ts';
import type { Recording } from './recording.ts';

export interface Validation {
  format: 'trueline/validation/1';
  name: string;
  valid: boolean;
  rows: Record<string, number>;
  problems: string[];
  /** Kept and not judged: tables and columns that the format does not know. */
  unknown: string[];
}

/** Columns that index a list of the manifest. */
const indices: { table: string; column: string; list: 'agents' | 'policies' | 'tensors' }[] = [
  { table: 'samples', column: 'agent', list: 'agents' },
  { table: 'episodes', column: 'agent', list: 'agents' },
  { table: 'counters', column: 'agent', list: 'agents' },
  { table: 'replays', column: 'policy', list: 'policies' },
  { table: 'steps', column: 'policy', list: 'policies' },
  { table: 'tensors', column: 'tensor', list: 'tensors' },
];

const isKnown = (table: string, column?: string) =>
  column === undefined ? tableSpec(table) !== undefined : columnSpec(table, column) !== undefined;

/** What the rows point to, of the tables that a diagnosis reads: the part of `validate` that needs a few narrow columns only. */
export async function problemsOf(recording: Recording): Promise<string[]> {
  const { problems } = await validate(recording, {
    samples: ['iteration', 'agent'],
    replays: ['iteration', 'sample', 'source_iteration', 'policy'],
    steps: ['iteration', 'policy'],
    tensors: ['iteration', 'tensor'],
    episodes: ['agent'],
  });
  return problems;
}

/** `columns` names the tables and columns to look at; everything without it. */
export async function validate(
  recording: Recording,
  columns?: Readonly<Record<string, readonly string[]>>,
): Promise<Validation> {
  const problems: string[] = [];
  const unknown = new Set<string>();
  const rows: Record<string, number> = {};
  const samplesPerIteration = new Map<number, number>();
  if (recording.tables.length === 0)
    problems.push(`${recording.name}: the recording has no table; at least one is needed`);
  for (const table of recording.tables) {
    if (columns && !columns[table]) continue;
    rows[table] = 0;
    if (!isKnown(table)) unknown.add(table);
    try {
      for await (const chunk of recording.chunks(table, columns?.[table])) {
        for (const name of chunk.present) if (isKnown(table) && !isKnown(table, name)) unknown.add(`${table}.${name}`);
        for (const name of chunk.unreadable) unknown.add(`${table}.${name}`);
        const numbers = (name: string) =>
          (chunk.columns.get(name) as NumberColumn | undefined)?.values as Int32Array | undefined;
        const problem = (what: string, column: string, row: number) => {
          if (problems.length < 20) problems.push(new BadInput(what, { file: chunk.file, table, column, row }).message);
        };
        for (const index of indices) {
          const list = recording.manifest[index.list];
          const values = index.table === table && list ? numbers(index.column) : undefined;
          const row = values?.findIndex((value) => value >= (list?.length ?? 0)) ?? -1;
          if (values && row >= 0)
            problem(`holds ${values[row]}, but manifest.${index.list} has ${list?.length} entries`, index.column, row);
        }
        if (
          (table === 'replays' || table === 'steps') &&
          (recording.manifest.policies?.length ?? 1) > 1 &&
          !chunk.columns.has('policy')
        ) {
          problem('is missing, and there is more than one policy', 'policy', 0);
        }
        if (table === 'samples') {
          const counts = numbers('num_actions');
          const lists = (['subset', 'legal', 'logits'] as const).flatMap((name) => {
            const column = chunk.columns.get(name) as NumberColumn | undefined;
            return column?.offsets ? [{ name, offsets: column.offsets }] : [];
          });
          for (let row = 0; row < chunk.rows; row++) {
            const iteration = numbers('iteration')?.[row] ?? 0;
            samplesPerIteration.set(iteration, (samplesPerIteration.get(iteration) ?? 0) + 1);
            // A list may be missing from a row (length 0), but two lists of one row must agree.
            let length = counts ? counts[row] : Number.NaN;
            for (const { name, offsets } of lists) {
              const own = offsets[row + 1] - offsets[row];
              if (own === 0) continue;
              if (own !== length && !Number.isNaN(length))
                problem(`has ${own} entries where the row has ${length} candidates`, name, row);
              length = own;
            }
          }
        }
        if (table === 'replays') {
          const samples = numbers('sample') as Int32Array;
          const iterations = numbers('source_iteration') ?? (numbers('iteration') as Int32Array);
          for (let row = 0; row < chunk.rows && samplesPerIteration.size > 0; row++) {
            const count = samplesPerIteration.get(iterations[row]) ?? 0;
            if (samples[row] >= count) {
              problem(
                `points to sample ${samples[row]} of iteration ${iterations[row]}, which has ${count} samples`,
                'sample',
                row,
              );
            }
          }
        }
        rows[table] += chunk.rows;
      }
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      problems.push(error.message);
    }
  }
  return {
    format: 'trueline/validation/1',
    name: recording.name,
    valid: problems.length === 0,
    rows,
    problems,
    unknown: [...unknown],
  };
}
