import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { removeRun } from '../node.ts';
import { claimFolder, lockFile, secondsWritten } from './node.ts';

const all = mkdtempSync(join(tmpdir(), 'trueline-claim-'));
afterAll(() => rmSync(all, { recursive: true, force: true }));
let folder: string;
let count = 0;
beforeEach(() => {
  folder = join(all, String(count++));
});
const bytes = [Uint8Array.of(1)];
const lockedBy = (host: string, process_: number, began = '') =>
  writeFileSync(join(folder, lockFile), JSON.stringify({ host, process: process_, began, token: 'theirs' }));

describe('a claim on a folder', () => {
  it('keeps everybody else out until it is released, and leaves behind only for how long it was written to', async () => {
    const first = await claimFolder(folder);
    await expect(claimFolder(folder)).rejects.toThrow(
      new RegExp(`process ${process.pid} on ${hostname()} is writing there`),
    );
    await first.store.write('manifest.json', bytes);
    await first.release();
    expect(readdirSync(folder)).toEqual(['.trueline-seconds', 'manifest.json']);
    writeFileSync(join(folder, '.trueline-seconds'), '61.5\n');
    const second = await claimFolder(folder);
    await second.release();
    const seconds = (await secondsWritten(folder))!;
    expect(seconds).toBeGreaterThanOrEqual(61.5);
    expect(seconds).toBeLessThan(121.5);
    await removeRun(folder);
    expect(existsSync(folder)).toBe(false);
  });

  it('is taken over from a process that is gone, and from one whose number another has now', async () => {
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    for (const [owner, began] of [
      [pid, ''],
      [process.pid, 'at another time'],
    ] as const) {
      const before = await claimFolder(folder);
      lockedBy(hostname(), owner, began);
      const after = await claimFolder(folder);
      await after.store.write('manifest.json', bytes);
      // Who lost it writes nothing more, and does not take the lock away either.
      await expect(before.store.write('manifest.json', bytes)).rejects.toThrow(/took it over/);
      await before.release();
      expect(JSON.parse(readFileSync(join(folder, lockFile), 'utf8')).process).toBe(process.pid);
      await after.release();
    }
  });

  it('is taken over from another machine only after a silence', async () => {
    await (await claimFolder(folder)).release();
    lockedBy('elsewhere', 1);
    const alive = setInterval(() => utimesSync(join(folder, lockFile), new Date(), new Date()), 50);
    const waits: string[] = [];
    await expect(claimFolder(folder, { silence: 1500, onWait: (line) => waits.push(line) })).rejects.toThrow(
      /process 1 on elsewhere is writing there/,
    );
    clearInterval(alive);
    expect(waits).toEqual([expect.stringMatching(/elsewhere/)]);
    const taken = await claimFolder(folder, { silence: 600 });
    await taken.release();
  });

  it('is made anew where a lock was cut off while it was written', async () => {
    await (await claimFolder(folder)).release();
    writeFileSync(join(folder, lockFile), '{"host"');
    await (await claimFolder(folder)).release();
  });
});
