/** Which runs of a folder are under way: the one rule by which lists, verdicts and the bin go. */
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { claimFolder } from '../../recording/claim/node.ts';
import { listFolder } from './runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'trueline-runs-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('a run is under way while it grows, and between two slow updates while somebody holds it', async () => {
  const make = (name: string, ended?: string, seconds = 60) => {
    const file = join(folder, name, 'manifest.json');
    mkdirSync(join(folder, name));
    writeFileSync(file, JSON.stringify({ format: 'trueline/1', ...(ended ? { ended } : {}) }));
    const then = Date.now() / 1000 - seconds;
    utimesSync(file, then, then);
  };
  make('ended', 'finished', 0);
  make('growing', undefined, 0);
  make('killed');
  make('slow');
  const claim = await claimFolder(join(folder, 'slow'));
  const live = async () => (await listFolder(folder)).runs.filter((run) => run.live).map(({ id }) => id);
  expect(await live()).toEqual(['growing', 'slow']);
  await claim.release();
  expect(await live()).toEqual(['growing']);
});
