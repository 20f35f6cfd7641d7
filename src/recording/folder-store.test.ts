import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { folderStore } from './node.ts';

const scratch = mkdtempSync(join(tmpdir(), 'trueline-store-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

it('a folder that is removed while it is listed is no error', async () => {
  for (let round = 0; round < 10; round++) {
    const folder = join(scratch, `run-${round}`);
    for (let i = 0; i < 30; i++) mkdirSync(join(folder, `table-${i}`), { recursive: true });
    const [listed] = await Promise.all([folderStore(folder).list(), rm(folder, { recursive: true })]);
    expect(listed).toEqual([]);
  }
});

it('what is no folder is an error still', async () => {
  writeFileSync(join(scratch, 'file'), '');
  await expect(folderStore(join(scratch, 'file')).list()).rejects.toThrow('ENOTDIR');
});
