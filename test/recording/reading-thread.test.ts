/** A recording that a thread of its own reads is diagnosed as one that is read here: the same verdict, the same numbers, the same complaints. */
import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { threadedReading as ThreadedReading } from '../../src/cli/reading/thread.ts';
import { type DiagnoseOptions, diagnose } from '../../src/doctor/diagnose.ts';
import { openRecording } from '../../src/recording/node.ts';

const { threadedReading } = (await import(new URL('../../dist/cli/reading/thread.js', import.meta.url).pathname)) as {
  threadedReading: typeof ThreadedReading;
};
const stored = join(import.meta.dirname, '..', 'recordings');
const echo = join(import.meta.dirname, '..', '..', 'examples', 'echo');
const folder = mkdtempSync(join(tmpdir(), 'trueline-thread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function both(path: string, options: DiagnoseOptions = {}) {
  const recording = await openRecording(path);
  const read = await threadedReading(recording, path, {}, 0);
  expect(read).toBeDefined();
  const outcome = async (own: DiagnoseOptions) =>
    diagnose(recording, own).catch((error: Error) => `${error.name}: ${error.message}`);
  const here = await outcome(options);
  const there = await outcome({ ...options, read: read! });
  return { here, there };
}

const zips = ['advantage-agent-swapped', 'recurrent-state-not-reset', 'target-crosses-end'].flatMap((cause) =>
  readdirSync(join(stored, cause)).map((name) => join(stored, cause, name)),
);

describe('a thread that reads', () => {
  it.each(zips)('%s', async (path) => {
    for (const unfinished of [false, true]) {
      const { here, there } = await both(path, { unfinished });
      expect(there).toEqual(here);
      expect(here).toHaveProperty('checks');
    }
  });

  it('complains of a damaged file in the same words', async () => {
    const run = join(folder, 'damaged');
    cpSync(echo, run, { recursive: true });
    truncateSync(join(run, 'samples', '000000.npz'), 300);
    const { here, there } = await both(run);
    expect(here).toMatch(/^BadInput: .*samples/);
    expect(there).toBe(here);
  });

  it('is not begun for what is read before it would be', async () => {
    expect(await threadedReading(await openRecording(echo), echo, {})).toBeUndefined();
  });
});
