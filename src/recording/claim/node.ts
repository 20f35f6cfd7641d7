/**
 * One writer at a time: a folder belongs to the process that claimed it until it lets go or is gone. Whether a process of this machine is gone is known at
 * once; one of another machine touches its lock as long as it lives, so its silence is waited for. Whoever lost a folder finds out before the next write.
 */

import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { failedAt, isAlive, makeFolder, writeWhole } from '../disk/node.ts';
import { folderStore } from '../node.ts';
import { timeFile } from '../run-files.ts';
import type { WritableStore } from '../source.ts';

export const lockFile = '.trueline-lock';

/** Null where no writer has let go of it yet. */
export async function secondsWritten(folder: string): Promise<number | null> {
  const seconds = Number(await readFile(join(folder, timeFile), 'utf8').catch(() => Number.NaN));
  return Number.isFinite(seconds) ? seconds : null;
}

/** Milliseconds of silence after which an owner on another machine is gone. */
const believed = 60_000;

const ownerSchema = z.object({
  host: z.string(),
  process: z.int().min(1),
  /** When the process began, as its system counts; numbers of processes are used again. */
  began: z.string(),
  token: z.string(),
});

type Owner = z.output<typeof ownerSchema>;

export interface Claim {
  /** The folder, which is written to only as long as it is ours. */
  readonly store: WritableStore;
  release(): Promise<void>;
}

export interface ClaimOptions {
  /** Hears that the owner's machine cannot be asked, and that it is waited for. */
  onWait?: (sentence: string) => void;
  /** Milliseconds of silence after which an owner on another machine is gone, and between two signs of life. */
  silence?: number;
  beat?: number;
}

export async function claimFolder(folder: string, options: ClaimOptions = {}): Promise<Claim> {
  const { silence = believed, beat = 5000, onWait } = options;
  await makeFolder(folder);
  const file = join(folder, lockFile);
  const start = performance.now();
  const own: Owner = { host: hostname(), process: process.pid, began: began(process.pid), token: randomUUID() };
  const text = `${JSON.stringify(own)}\n`;
  if (!create(file, text)) {
    const owner = read(file);
    const gone = owner === null || (await isGone(owner, file, silence, onWait));
    if (!gone)
      throw new BadInput(
        told(
          `process ${owner.process} on ${owner.host} is writing there; wait until it has ended, or give another folder`,
          `${owner.host} 上的进程 ${owner.process} 正在写入；请等它结束，或换一个文件夹`,
        ),
        { file: folder },
      );
    await writeWhole(file, [new TextEncoder().encode(text)]);
  }
  const timer = setInterval(() => {
    utimes(file, new Date(), new Date()).catch(() => undefined);
  }, beat);
  timer.unref();
  const requireOwn = () => {
    const owner = read(file);
    if (owner?.token === own.token) return;
    const by = owner
      ? told(`process ${owner.process} on ${owner.host} took it over`, `${owner.host} 上的进程 ${owner.process} 已接管`)
      : told('its lock was removed', '它的锁被移除');
    throw new BadInput(
      told(
        `is no longer ours to write: ${by}; what was saved until then is whole`,
        `已不归我们写入：${by}；在此之前保存的内容是完整的`,
      ),
      { file: folder },
    );
  };
  const store = folderStore(folder);
  return {
    store: {
      ...store,
      write: async (path, parts) => {
        requireOwn();
        await store.write(path, parts);
      },
      remove: async (path) => {
        requireOwn();
        await store.remove(path);
      },
    },
    release: async () => {
      clearInterval(timer);
      if (read(file)?.token !== own.token) return;
      const seconds = ((await secondsWritten(folder)) ?? 0) + (performance.now() - start) / 1000;
      await writeFile(join(folder, timeFile), `${seconds.toFixed(1)}\n`).catch(() => undefined);
      await unlink(file).catch(() => undefined);
    },
  };
}

/** Whether a program is writing there now, as far as can be told without waiting for a sign of life. */
export async function isBeingWritten(folder: string): Promise<boolean> {
  const file = join(folder, lockFile);
  const owner = read(file);
  if (!owner) return false;
  if (owner.host === hostname()) return !(await isGone(owner, file, 0));
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs < believed;
}

/** False where there is one already. */
function create(file: string, text: string): boolean {
  let lock: number;
  try {
    lock = openSync(file, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw failedAt(file, error);
  }
  try {
    writeSync(lock, text);
  } catch (error) {
    rmSync(file, { force: true });
    throw failedAt(file, error);
  } finally {
    closeSync(lock);
  }
  return true;
}

/** Null where there is none, or one whose owner died while writing it. */
function read(file: string): Owner | null {
  try {
    return ownerSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}

async function isGone(owner: Owner, file: string, silence: number, onWait?: ClaimOptions['onWait']): Promise<boolean> {
  if (owner.host === hostname()) return !isAlive(owner.process) || began(owner.process) !== owner.began;
  onWait?.(
    told(
      `${owner.host}, where process ${owner.process} was writing there, is given time to show that it still is`,
      `等待 ${owner.host} 表明其进程 ${owner.process} 仍在写入`,
    ),
  );
  const touched = async () => (await stat(file).catch(() => undefined))?.mtimeMs;
  const before = await touched();
  for (let waited = 0; waited < silence; waited += 500) {
    await setTimeout(Math.min(500, silence - waited));
    if ((await touched()) !== before) return false;
  }
  return true;
}

/** On Linux, ticks from the start of the system to that of the process; elsewhere nothing is known. */
function began(process_: number): string {
  try {
    const text = readFileSync(`/proc/${process_}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '';
  }
}
