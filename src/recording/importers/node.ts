/** Opens whatever a user names: a recording, or a log that is read as one. */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { BadInput } from '../bad-input.ts';
import { fileSource, openStore } from '../node.ts';
import { Recording } from '../recording.ts';
import type { Store } from '../source.ts';
import { fileStore, type ImportedLog, importLog, type LogOptions, logRecording } from './open.ts';

/** A folder, a zip or one file. */
export async function openLogStore(path: string, options: LogOptions = {}): Promise<Store> {
  if (!existsSync(path)) throw new BadInput('there is no such file or folder', { file: path });
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
  const paths = await store.list();
  if (paths.includes('manifest.json')) return { recording: await Recording.open(store, options), imported: null };
  const imported = await importLog(store, options);
  return { recording: await logRecording(imported), imported };
}
