/** Training into a folder: the recording and its checkpoints. A checkpoint appears under its name only when it is whole, so a killed run can be resumed. */
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngine } from '../net/engine.ts';
import type { KernelName } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import { createRecording, writeWhole } from '../recording/node.ts';
import type { Encoding } from '../recording/writer.ts';
import { decodeCheckpoint } from './checkpoint.ts';
import { checkpointSettings, type TrainHooks, type TrainResult, train } from './run.ts';
import type { SettingsInput } from './settings.ts';
import { Trainer } from './trainer.ts';

const checkpoints = 'checkpoints';
/** The newest ones are kept; an older one is of use only while the newest is being written. */
const kept = 2;

export interface FolderHooks extends Omit<TrainHooks, 'recording' | 'checkpoint' | 'resume'> {
  encoding?: Encoding;
  /** Called when a checkpoint and all that was recorded before it are on disk; training goes on when it has ended. */
  onCheckpoint?: () => Promise<void>;
}

/** Trains into a new folder; one that already holds a run is refused rather than overwritten. */
export async function trainInto(
  folder: string,
  settings: SettingsInput,
  hooks: FolderHooks = {},
): Promise<TrainResult> {
  const present: string[] = await readdir(folder).catch(() => []);
  if (present.includes('manifest.json'))
    throw new BadInput('already holds a run; resume it, or give another folder', { file: folder });
  return train(settings, { ...hooks, ...folderHooks(folder, hooks) });
}

/** Goes on from a folder's newest checkpoint. `changed` may give another number of steps, threads or guard. */
export async function resumeFrom(
  folder: string,
  changed: Partial<SettingsInput> = {},
  hooks: FolderHooks = {},
): Promise<TrainResult> {
  const resume = await latestCheckpoint(folder);
  const settings = { ...checkpointSettings(resume), ...changed };
  return train(settings, { ...hooks, ...folderHooks(folder, hooks), resume });
}

export async function latestCheckpoint(folder: string): Promise<Uint8Array> {
  const names = await checkpointNames(folder);
  if (names.length === 0)
    throw new BadInput('holds no checkpoint to resume from; train it anew', { file: join(folder, checkpoints) });
  return readFile(join(folder, checkpoints, names[names.length - 1]));
}

/** The trainer of a folder as its newest checkpoint left it, to play or to export; nothing is written. */
export async function loadTrainer(folder: string): Promise<{ trainer: Trainer; dispose(): void }> {
  const bytes = await latestCheckpoint(folder);
  const { settings, kernel } = decodeCheckpoint(bytes);
  const engine = await createEngine({ kernel: kernel as KernelName });
  const trainer = new Trainer(settings, { engine });
  trainer.load(bytes);
  return { trainer, dispose: () => engine.dispose() };
}

function folderHooks(folder: string, hooks: FolderHooks): Pick<TrainHooks, 'recording' | 'checkpoint'> {
  return {
    recording: (manifest, position) =>
      createRecording(folder, manifest, {
        ...(hooks.encoding ? { encoding: hooks.encoding } : {}),
        ...(position ? { resume: position } : {}),
      }),
    checkpoint: async (bytes, iteration) => {
      await mkdir(join(folder, checkpoints), { recursive: true });
      await writeWhole(join(folder, checkpoints, `${String(iteration).padStart(8, '0')}.checkpoint`), [bytes]);
      const names = await checkpointNames(folder);
      for (const name of names.slice(0, -kept)) await rm(join(folder, checkpoints, name), { force: true });
      await hooks.onCheckpoint?.();
    },
  };
}

async function checkpointNames(folder: string): Promise<string[]> {
  const names: string[] = await readdir(join(folder, checkpoints)).catch(() => []);
  return names.filter((name) => /^\d+\.checkpoint$/.test(name)).sort();
}
