import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimFolder } from '../../recording/claim/node.ts';
import { Shelf } from './shelf.ts';

let folder: string;
let shelf: Shelf;
const place = () => join(folder, '.studio');
const throwAway = (id: string, live = false) => shelf.throwAway([{ id, live }]);
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'trueline-shelf-'));
  mkdirSync(join(folder, 'deep', 'run'), { recursive: true });
  writeFileSync(join(folder, 'deep', 'run', 'manifest.json'), '{}');
  shelf = new Shelf(folder, place());
  await shelf.open();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('keeps tags and notes for the next studio', async () => {
  expect(await shelf.write('deep/run', { tags: ['keep'], note: 'odd' })).toEqual({ done: true });
  const next = new Shelf(folder, place());
  await next.open();
  expect(next.of('deep/run')).toEqual({ tags: ['keep'], note: 'odd' });
  expect(await shelf.write('x', { tags: 'no list' })).toHaveProperty('error');
});

it('moves a run into the bin whole, and puts it back', async () => {
  expect(await throwAway('deep/run')).toEqual({ done: true });
  expect(existsSync(join(folder, 'deep', 'run'))).toBe(false);
  const next = new Shelf(folder, place());
  await next.open();
  expect(next.binned()).toEqual(['deep/run']);
  expect(await next.putBack(['deep/run'])).toEqual({ done: true });
  expect(existsSync(join(folder, 'deep', 'run', 'manifest.json'))).toBe(true);
  expect(next.binned()).toEqual([]);
});

it('moves nothing that is being written, lies elsewhere, or would take the place of another', async () => {
  const claim = await claimFolder(join(folder, 'deep', 'run'));
  for (const id of ['deep/run', '../x', '.', '.studio', 'none'])
    expect(await throwAway(id), id).toHaveProperty('error');
  await claim.release();
  expect(await throwAway('deep/run', true)).toHaveProperty('error');
  // A writer that was killed left its lock behind, and is no writer any more.
  writeFileSync(join(folder, 'deep', 'run', '.trueline-lock'), '');
  expect(await throwAway('deep/run')).toEqual({ done: true });
  mkdirSync(join(folder, 'deep', 'run'));
  expect(await shelf.putBack(['deep/run'])).toHaveProperty('error');
  expect(await shelf.putBack(['../deep'])).toHaveProperty('error');
});
