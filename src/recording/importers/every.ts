/** Every run that a folder of logs holds, one after the other; what cannot be read is said in a sentence and does not stop the rest. */
import { BadInput } from '../bad-input.ts';
import type { Store } from '../source.ts';
import { findLogs, type LogSource } from './find.ts';
import { SeveralRuns } from './log.ts';
import { type ImportedLog, type LogOptions, readLog } from './open.ts';

/** One run as it was read, or why it was not. */
export type RunOfLogs = { name: string; imported: ImportedLog } | { name: string; why: string };

export async function* everyLog(store: Store, options: LogOptions = {}): AsyncGenerator<RunOfLogs> {
  for (const source of await findLogs(store)) yield* runsOf(store, source, options);
}

async function* runsOf(store: Store, source: LogSource, options: LogOptions): AsyncGenerator<RunOfLogs> {
  const name = source.name === '' ? store.name : source.name;
  try {
    const imported = await readLog(store, source, options);
    const called = imported.manifest.name;
    yield { name: source.title && called ? `${name} (${called})` : name, imported };
  } catch (error) {
    if (error instanceof SeveralRuns)
      for (const run of error.runs) yield* runsOf(store, { ...source, name: `${name}#${run}` }, { ...options, run });
    else if (error instanceof BadInput) yield { name, why: error.message };
    else throw error;
  }
}
