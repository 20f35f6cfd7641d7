/** Checks a whole recording: every file opens, every column has its form, and what the rows point to is declared. The first few problems of each table are told, not only one. */
import { BadInput } from '../bad-input.ts';
import { columnSpec, tableSpec } from '../columns.ts';
import type { Recording } from '../recording.ts';
import { settingProblems } from '../token-settings.ts';
import { RowJudge } from './judge.ts';

export interface Validation {
  format: 'trueline/validation/1';
  name: string;
  valid: boolean;
  /** Whether there is no table: the run was ended before it recorded anything. */
  empty: boolean;
  rows: Record<string, number>;
  problems: string[];
  /** Kept and not judged: tables and columns that the format does not know. */
  unknown: string[];
}

/** What cannot be read is told even where rows have many problems. */
const mostUnreadable = 100;

const isKnown = (table: string, column?: string) =>
  column === undefined ? tableSpec(table) !== undefined : columnSpec(table, column) !== undefined;

export async function validate(recording: Recording): Promise<Validation> {
  const [whole, ...others] = await Promise.all([recording, ...recording.ranks].map(validateOne));
  for (const { rows, problems, unknown } of others) {
    for (const [table, count] of Object.entries(rows)) whole.rows[table] = (whole.rows[table] ?? 0) + count;
    whole.problems.push(...problems);
    whole.unknown.push(...unknown.filter((name) => !whole.unknown.includes(name)));
  }
  return { ...whole, valid: whole.problems.length === 0 };
}

async function validateOne(recording: Recording): Promise<Validation> {
  const judge = new RowJudge(recording);
  const unknown = new Set<string>();
  const rows: Record<string, number> = {};
  for (const table of recording.tables) {
    rows[table] = 0;
    if (!isKnown(table)) unknown.add(table);
    await reading(judge, async () => {
      for await (const chunk of recording.chunks(table)) {
        for (const name of chunk.present) if (isKnown(table) && !isKnown(table, name)) unknown.add(`${table}.${name}`);
        for (const name of chunk.unreadable) unknown.add(`${table}.${name}`);
        judge.see(table, chunk, { file: chunk.file });
        if (isKnown(table)) judge.seeFile(table, chunk.file, chunk);
        rows[table] += chunk.rows;
      }
      judge.judgeFiles(table);
    });
  }
  for (const problem of settingProblems(recording.manifest))
    judge.tell(new BadInput(problem, { file: `${recording.name}/manifest.json` }));
  return {
    format: 'trueline/validation/1',
    name: recording.name,
    valid: judge.problems.length === 0,
    empty: recording.tables.length === 0,
    rows,
    problems: judge.problems,
    unknown: [...unknown],
  };
}

/** For whoever has read some tables already and has shown their rows to the judge: reads the rest of the recording, and judges it. */
export async function judgeRest(recording: Recording, judge: RowJudge): Promise<void> {
  for (const problem of settingProblems(recording.manifest))
    judge.tell(new BadInput(problem, { file: `${recording.name}/manifest.json` }));
  for (const table of recording.tables) {
    if (judge.whole.has(table)) continue;
    const shown = judge.shown.has(table);
    await reading(judge, async () => {
      for await (const chunk of recording.chunks(table)) {
        if (shown) continue;
        judge.see(table, chunk, { file: chunk.file });
        if (isKnown(table)) judge.seeFile(table, chunk.file, chunk);
      }
      judge.judgeFiles(table);
    });
  }
}

/** What cannot be read of one table is a problem of the recording, and the next table is read all the same. */
async function reading(judge: RowJudge, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    judge.tell(error, mostUnreadable);
  }
}
