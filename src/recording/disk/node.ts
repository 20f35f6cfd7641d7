/**
 * Files that are there under their name either whole or not at all, whatever is killed and whenever the power goes: the one place that writes them.
 * A file is on disk when its folder is, too, so both are synced before anybody relies on it.
 */

import { closeSync, fsync, openSync, writevSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, unlink } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { type Pair, told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

/** Not the synchronous one: several files that are synced at the same time cost hardly more than one. */
const syncFile = promisify(fsync);

/** Writes under a temporary name beside the file and renames it: readers see the old file or the new one, never a part. */
export async function writeWhole(path: string, parts: readonly Uint8Array[]): Promise<void> {
  await writeStream(path, async (write) => write(parts));
}

/** The same for bytes that come bit by bit. */
export async function writeStream(
  path: string,
  produce: (write: (parts: readonly Uint8Array[]) => void) => Promise<void>,
): Promise<void> {
  await makeFolder(dirname(path));
  await removeParts(dirname(path));
  const part = partName(path);
  await failingAt(path, async () => {
    try {
      const file = openSync(part, 'w');
      try {
        await produce((parts) => writeAll(file, parts));
        await syncFile(file);
      } finally {
        closeSync(file);
      }
      await rename(part, path);
    } catch (error) {
      await rm(part, { force: true }).catch(() => undefined);
      throw error;
    }
    await syncFolder(dirname(path));
  });
}

function writeAll(file: number, parts: readonly Uint8Array[]): void {
  for (let from = 0; from < parts.length; from += 256) {
    let rest = parts.slice(from, from + 256).filter((part) => part.length > 0);
    while (rest.length > 0) {
      let written = writevSync(file, rest);
      while (rest.length > 0 && written >= rest[0].length) {
        written -= rest[0].length;
        rest = rest.slice(1);
      }
      if (written > 0) rest = [rest[0].subarray(written), ...rest.slice(1)];
    }
  }
}

/** Whether a folder can be written here: before the work that would be in vain. */
export async function requireNoFolder(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined);
  if (found && (!found.isDirectory() || (await readdir(path)).length > 0))
    throw new BadInput(
      told(
        'is there already and not an empty folder; name a new one, or remove it first',
        '已经存在且不是空文件夹；请换一个名称，或先删除它',
      ),
      { file: path },
    );
}

/** Fills a folder beside its place and renames it there, so that one that was cut off never looks whole. */
export async function writeFolder(path: string, fill: (folder: string) => Promise<void>): Promise<void> {
  await requireNoFolder(path);
  const place = resolve(path);
  await makeFolder(dirname(place));
  await removeParts(dirname(place));
  const part = partName(place);
  try {
    await rm(part, { recursive: true, force: true });
    await fill(part);
    // Takes the place of an empty folder, and of no other.
    await failingAt(path, async () => {
      await rename(part, place);
      await syncFolder(dirname(place));
    });
  } catch (error) {
    await rm(part, { recursive: true, force: true }).catch(() => undefined);
    throw error;
  }
}

/**
 * Fills a folder beside another and puts it in its place; `fill` may give up with false, and nothing has happened. Killed in the middle, the old folder may
 * be gone from its name, so whoever calls this has what is written elsewhere, too, until it has ended.
 */
export async function replaceFolder(path: string, fill: (folder: string) => Promise<boolean>): Promise<void> {
  const place = resolve(path);
  await makeFolder(dirname(place));
  await removeParts(dirname(place));
  const [part, old] = [partName(place), partName(`${place}.old`)];
  try {
    await rm(part, { recursive: true, force: true });
    await makeFolder(part);
    if (!(await fill(part))) return;
    await failingAt(path, async () => {
      await rename(place, old).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOENT') throw error;
      });
      await rename(part, place);
      await syncFolder(dirname(place));
    });
  } finally {
    for (const left of [part, old]) await rm(left, { recursive: true, force: true }).catch(() => undefined);
  }
}

export async function removeFile(path: string): Promise<void> {
  await failingAt(path, async () => {
    await unlink(path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
    await syncFolder(dirname(path));
  });
}

/** Makes a folder and those above it, one by one: asked to make all at once below /proc, Node tries for ever. */
export async function makeFolder(path: string): Promise<void> {
  const place = resolve(path);
  const found = await stat(place).catch(() => undefined);
  if (found?.isDirectory()) return;
  if (found)
    throw new BadInput(
      told('is a file, where a folder is needed; give another path', '是文件，而这里需要文件夹；请换一个路径'),
      { file: path },
    );
  if (dirname(place) !== place) await makeFolder(dirname(place));
  await failingAt(path, async () => {
    await mkdir(place).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await syncFolder(dirname(place));
  });
}

async function syncFolder(path: string): Promise<void> {
  // Windows syncs no folders, and needs none to be synced.
  if (process.platform === 'win32') return;
  const folder = openSync(path, 'r');
  try {
    await syncFile(folder);
  } finally {
    closeSync(folder);
  }
}

/** What is being written, and by whom: on another machine the same number is another process. */
const host = hostname().replace(/[^A-Za-z0-9-]/g, '-');
const partPattern = /^\..+\.([A-Za-z0-9-]+)\.(\d+)\.trueline-part(-\w{6})?$/;

function partName(path: string): string {
  return join(dirname(path), `.${basename(path)}.${host}.${process.pid}.trueline-part`);
}

/** A folder for what is thrown away at the end; if the process is killed first, the next one that asks for such a folder removes it. */
export async function scratchFolder(name: string): Promise<string> {
  await removeParts(tmpdir());
  return mkdtemp(`${partName(join(tmpdir(), `trueline-${name}`))}-`);
}

const tidied = new Set<string>();

/** The first time that a process writes into a folder, it removes what killed ones left half-written there. */
async function removeParts(folder: string): Promise<void> {
  const place = resolve(folder);
  if (tidied.has(place)) return;
  tidied.add(place);
  for (const name of await readdir(place).catch(() => [] as string[])) {
    const [, machine, owner] = partPattern.exec(name) ?? [];
    if (machine === host && !isAlive(Number(owner)))
      await rm(join(place, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

export function isAlive(process_: number): boolean {
  try {
    process.kill(process_, 0);
    return true;
  } catch (error) {
    // It is there, and somebody else's.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const reasons: Record<string, Pair> = {
  ENOSPC: ['there is no room left on the disk; free some, then run the command again', '磁盘已满；请腾出空间后再执行'],
  EDQUOT: [
    'there is no room left in your quota; free some, then run the command again',
    '配额已满；请腾出空间后再执行',
  ],
  EROFS: ['the disk can only be read; give another path', '磁盘是只读的；请换一个路径'],
  EACCES: [
    'may not be written to; give another path, or change its permissions',
    '没有写入权限；请换一个路径，或更改权限',
  ],
  EPERM: [
    'may not be written to; give another path, or change its permissions',
    '没有写入权限；请换一个路径，或更改权限',
  ],
  ENOENT: ['nothing can be made there; give another path', '无法在那里建立；请换一个路径'],
  ENOTDIR: ['a part of its path is a file; give another path', '路径中有一部分是文件；请换一个路径'],
  ENOTEMPTY: ['is no longer empty; give another path', '已不是空的；请换一个路径'],
};

/** What the system says of a file descriptor names no path; here it is known. */
async function failingAt<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw failedAt(path, error);
  }
}

/** An error of the system as a sentence about the file that it happened to. */
export function failedAt(path: string, error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof BadInput || code === undefined) return error;
  return new BadInput(told(...(reasons[code] ?? [`cannot be written (${message})`, `无法写入（${message}）`])), {
    file: path,
  });
}
