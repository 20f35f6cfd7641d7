/** Opens whatever a user names: a recording, or a log that is read as one. */

import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { fileSource, openRecording, openStore } from '../node.ts';
import { Recording } from '../recording.ts';
import type { Store } from '../source.ts';
import { everyLog } from './every.ts';
import { fileStore, type ImportedLog, importLog, type LogOptions, logRecording } from './open.ts';
import { rolloutRecording } from './rollouts.ts';

/** A folder, a zip or one file. */
export async function openLogStore(path: string, options: LogOptions = {}): Promise<Store> {
  if (!existsSync(path))
    throw new BadInput(told('there is no such file or folder', '没有这个文件或文件夹'), { file: path });
  if (statSync(path).isDirectory()) return openStore(path, options);
  const source = await fileSource(path);
  const head = await source.read(0, Math.min(4, source.size));
  return head[0] === 0x50 && head[1] === 0x4b ? openStore(path, options) : fileStore(source);
}

export interface Opened {
  recording: Recording;
  /** Where the source was a log. */
  imported: ImportedLog | null;
}

export async function openRecordingOrLog(path: string, options: LogOptions = {}): Promise<Opened> {
  if (existsSync(join(path, 'manifest.json')))
    return { recording: await Recording.open(await openStore(path, options), options), imported: null };
  const store = await openLogStore(path, options);
  const rows = await rowsOf(store, options);
  if (rows) return { recording: rows, imported: null };
  const imported = await importLog(store, options);
  return { recording: await logRecording(imported), imported };
}

/** A recording, or a dump of rollouts; a log has no rows, and what is said then is what is said of any folder that is no recording. */
export async function openRows(path: string, options: LogOptions = {}): Promise<Recording> {
  const dump = existsSync(path) && !existsSync(join(path, 'manifest.json'));
  return (dump && (await rowsOf(await openLogStore(path, options), options))) || openRecording(path, options);
}

const rowsOf = async (store: Store, options: LogOptions): Promise<Recording | null> =>
  (await store.list()).includes('manifest.json') ? Recording.open(store, options) : rolloutRecording(store, options);

export interface Runs {
  recordings: Recording[];
  unread: { name: string; why: string }[];
}

/** Every run that the paths hold: recordings, folders of recordings, logs, folders of logs, in the order of their names. */
export async function openRuns(paths: readonly string[], options: LogOptions = {}): Promise<Runs> {
  const out: Runs = { recordings: [], unread: [] };
  for (const path of paths) {
    const found = existsSync(path) && statSync(path).isDirectory() ? await findRecordings(path) : [];
    for (const folder of found) out.recordings.push(await Recording.open(await openStore(folder, options), options));
    if (found.length > 0) continue;
    const store = await openLogStore(path, options);
    if ((await store.list()).includes('manifest.json')) {
      out.recordings.push(await Recording.open(store, options));
      continue;
    }
    for await (const run of everyLog(store, options))
      if ('why' in run) out.unread.push(run);
      else out.recordings.push(await logRecording(run.imported));
  }
  return out;
}

/** Folders below a folder that are looked into for recordings. */
const deepest = 4;

/** Recordings at a path or below it: folders with a manifest, and zips that hold one, in the order of their names. */
export async function findRecordings(path: string, depth = deepest): Promise<string[]> {
  if (statSync(path).isFile()) return (await isRecordingZip(path)) ? [path] : [];
  if (existsSync(join(path, 'manifest.json'))) return [path];
  if (depth === 0) return [];
  const names = readdirSync(path, { withFileTypes: true })
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || entry.isFile())
    .map(({ name }) => name)
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
  const found: string[] = [];
  for (const name of names) found.push(...(await findRecordings(join(path, name), depth - 1)));
  return found;
}

async function isRecordingZip(path: string): Promise<boolean> {
  if (!/\.zip$/i.test(path)) return false;
  const store = await openStore(path).catch(() => undefined);
  return store !== undefined && (await store.list()).includes('manifest.json');
}
