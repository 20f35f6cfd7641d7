/** Training into a folder: the recording and its checkpoints. A checkpoint is on disk before an older one goes, and two are kept, so a run that was killed at any moment can be resumed. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { GameMaker } from '../games/game.ts';
import { gameMaker } from '../games/index.ts';
import { told } from '../language/language.ts';
import { createEngine } from '../net/engine.ts';
import type { KernelName } from '../net/types.ts';
import { BadInput } from '../recording/bad-input.ts';
import { type Claim, claimFolder } from '../recording/claim/node.ts';
import { folderStore } from '../recording/node.ts';
import { type Encoding, RecordingWriter, requireEmpty } from '../recording/writer.ts';
import { type BegunFault, decodeCheckpoint } from './checkpoint.ts';
import { agentNames } from './collect/seating.ts';
import { originKey, readEntry } from './lineup/entry.ts';
import { type Origin, type Origins, readOrigin } from './lineup/origin.ts';
import { type TrainHooks, type TrainResult, train } from './run.ts';
import { readSettings, type SettingsInput } from './settings.ts';
import { Trainer } from './trainer.ts';

const checkpoints = 'checkpoints';
/** The newest ones are kept: one to go on from, and the one before in case it is damaged. */
const kept = 2;

export interface FolderHooks extends Omit<TrainHooks, 'recording' | 'checkpoint' | 'resume'> {
  encoding?: Encoding;
  /** Called when a checkpoint and all that was recorded before it are on disk; training goes on when it has ended. */
  onCheckpoint?: () => Promise<void>;
}

const forTraining = ({ encoding: _, onCheckpoint: __, ...hooks }: FolderHooks): TrainHooks => hooks;

/** Trains into a new or empty folder; one that holds anything is refused rather than written into. */
export async function trainInto(
  folder: string,
  settings: SettingsInput,
  hooks: FolderHooks = {},
): Promise<TrainResult> {
  await requireEmpty(folderStore(folder));
  const origins = hooks.origins ?? (await readOrigins(settings, hooks.game));
  // Not before the settings are known to be good: what is refused leaves no folder.
  const owning = owned(folder, hooks);
  const into = { ...forTraining(hooks), origins, ...folderHooks(folder, hooks, owning.claim) };
  return train(settings, into).finally(owning.end);
}

/** Goes on from a folder's newest checkpoint. `changed` may give another number of steps, engine, threads or guard. */
export async function resumeFrom(
  folder: string,
  changed: Partial<SettingsInput> = {},
  hooks: FolderHooks = {},
): Promise<TrainResult> {
  // Without a checkpoint this says so, before there is a lock.
  if (!(await isBegun(folder))) await latestCheckpoint(folder);
  const owning = owned(folder, hooks);
  try {
    await owning.claim();
    const resume = await latestCheckpoint(folder, hooks.onNotice);
    const { settings: begun, origins = {} } = decodeCheckpoint(resume);
    const settings = { ...begun, ...changed };
    const into = { ...forTraining(hooks), origins, ...folderHooks(folder, hooks, owning.claim), resume };
    return await train(settings, into);
  } finally {
    await owning.end();
  }
}

/** The agents of other runs that the players of a run come from, each from the newest checkpoint of its folder. */
export async function readOrigins(input: SettingsInput, own?: GameMaker): Promise<Origins> {
  const settings = readSettings(input);
  const origins: Record<string, Origin> = {};
  const game = (own ?? gameMaker(settings.game, settings.gameSettings))(1);
  const names = agentNames(settings, game);
  for (const [agent, text] of (settings.players ?? []).entries()) {
    const { origin: words } = readEntry(text);
    if (!words || names[agent] === undefined) continue;
    const bytes = await latestCheckpoint(words.run).catch((error: unknown) => {
      throw error instanceof BadInput ? new BadInput(`player ${JSON.stringify(text)}: ${error.message}`) : error;
    });
    origins[originKey(words, names[agent])] = readOrigin(bytes, words, names[agent]);
  }
  return origins;
}

/** The claim on a folder, made when it is first asked for. */
function owned(folder: string, hooks: FolderHooks): { claim(): Promise<Claim>; end(): Promise<void> } {
  let claimed: Promise<Claim> | undefined;
  return {
    claim: () => {
      claimed ??= claimFolder(folder, hooks.onNotice ? { onWait: hooks.onNotice } : {});
      return claimed;
    },
    end: async () => (await claimed?.catch(() => undefined))?.release(),
  };
}

/** The fault that a run was begun with; undefined where it has none. */
export async function begunFault(folder: string): Promise<BegunFault | undefined> {
  return decodeCheckpoint(await latestCheckpoint(folder)).fault;
}

/** Whether there is a checkpoint to go on from. */
export async function isBegun(folder: string): Promise<boolean> {
  return (await checkpointNames(folder)).length > 0;
}

/** The newest checkpoint that is whole; a damaged one is passed over, and said to be. */
export async function latestCheckpoint(folder: string, onNotice?: (sentence: string) => void): Promise<Uint8Array> {
  const names = await checkpointNames(folder);
  let damage: BadInput | undefined;
  for (const name of names.reverse()) {
    const file = join(folder, checkpoints, name);
    const bytes = await readFile(file);
    try {
      decodeCheckpoint(bytes);
      if (damage)
        onNotice?.(
          told(
            `${damage.message}; ${name}, the one before, is whole and used`,
            `${damage.message}；前一个 ${name} 是完整的，采用它`,
          ),
        );
      return bytes;
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      damage ??= error.within({ file });
    }
  }
  if (damage)
    throw new BadInput(
      told(
        `${damage.what}, and no other is whole; train it anew`,
        `${damage.what}，而且没有其他完整的检查点；请重新训练`,
      ),
      damage.place,
    );
  throw new BadInput(
    told(
      'holds no checkpoint to resume from or to play with: no run was saved there; name another folder, or train it anew',
      '没有检查点：那里没有保存过训练；请换一个文件夹，或重新训练',
    ),
    {
      file: join(folder, checkpoints),
    },
  );
}

/** The trainer of a folder as its newest checkpoint left it, to play or to export; nothing is written. */
export async function loadTrainer(
  folder: string,
  onNotice?: (sentence: string) => void,
): Promise<{ trainer: Trainer; dispose(): void }> {
  const bytes = await latestCheckpoint(folder, onNotice);
  const { settings, kernel, fault, origins } = decodeCheckpoint(bytes);
  const engine = await createEngine({ kernel: kernel as KernelName });
  const trainer = new Trainer(settings, { engine, ...(fault ? { fault } : {}), ...(origins ? { origins } : {}) });
  trainer.load(bytes);
  return { trainer, dispose: () => engine.dispose() };
}

function folderHooks(
  folder: string,
  hooks: FolderHooks,
  claim: () => Promise<Claim>,
): Pick<TrainHooks, 'recording' | 'checkpoint'> {
  let writer: RecordingWriter | undefined;
  /** How far the recording was at each checkpoint. */
  const positions = new Map<string, Record<string, number> | null>();
  return {
    recording: async (manifest, position) => {
      writer = await RecordingWriter.create((await claim()).store, manifest, {
        ...(hooks.encoding ? { encoding: hooks.encoding } : {}),
        ...(position ? { resume: position } : {}),
      });
      return writer;
    },
    checkpoint: async (bytes, iteration) => {
      const { store } = await claim();
      const own = `${String(iteration).padStart(8, '0')}.checkpoint`;
      await store.write(`${checkpoints}/${own}`, [bytes]);
      const names = await checkpointNames(folder);
      const older = names.filter((name) => name <= own).slice(0, -kept);
      // A run goes on from the newest whole one, so any that is newer than what it reached is damaged.
      const damaged = names.filter((name) => name > own);
      for (const name of [...older, ...damaged]) {
        await store.remove(`${checkpoints}/${name}`);
        positions.delete(name);
      }
      if (writer) positions.set(own, writer.position());
      // What lies before the oldest checkpoint that is left is never counted again, so its small chunks may become large ones.
      const [oldest] = await checkpointNames(folder);
      // One that was written before this program began is read, so that a run that was stopped has the files of one that was not.
      if (writer && !positions.has(oldest)) positions.set(oldest, await recordedAt(join(folder, checkpoints, oldest)));
      const safe = positions.get(oldest);
      if (writer && safe) await writer.merge(safe);
      await hooks.onCheckpoint?.();
    },
  };
}

/** How far the recording was when a checkpoint was written; null where that cannot be told. */
async function recordedAt(file: string): Promise<Record<string, number> | null> {
  const bytes = await readFile(file);
  try {
    return decodeCheckpoint(bytes).recording;
  } catch (error) {
    if (error instanceof BadInput) return null;
    throw error;
  }
}

async function checkpointNames(folder: string): Promise<string[]> {
  const names: string[] = await readdir(join(folder, checkpoints)).catch(() => []);
  return names.filter((name) => /^\d{8,}\.checkpoint$/.test(name)).sort();
}
