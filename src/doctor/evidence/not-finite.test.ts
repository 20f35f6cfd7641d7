/** What is wild in the tables beside the flow: an iteration that no run reaches is damage, a return or a count that is not finite is evidence. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { validate } from '../../recording/check/validate.ts';
import type { NumberColumn } from '../../recording/column.ts';
import { folderStore, openRecording } from '../../recording/node.ts';
import { Recording } from '../../recording/recording.ts';
import { memoryStore } from '../../recording/source.ts';
import { encodeChunk } from '../../recording/writer.ts';
import { diagnose } from '../diagnose.ts';

const folder = join(process.cwd(), 'examples', 'echo');

/** The example with one number of one column replaced. */
async function changed(table: string, name: string, value: number): Promise<Recording> {
  const chunk = await (await openRecording(folder)).read(table);
  const columns = new Map(chunk.columns);
  const column = columns.get(name) as NumberColumn;
  const values = Float64Array.from(column.values as Float64Array, Number);
  values[values.length >> 1] = value;
  columns.set(name, { ...column, kind: 'float', values });
  const [from, store] = [folderStore(folder), memoryStore('changed')];
  for (const path of await from.list()) {
    const source = await from.open(path);
    if (!path.startsWith(`${table}/`)) await store.write(path, [await source.read(0, source.size)]);
  }
  await store.write(`${table}/000000.npz`, await encodeChunk({ rows: chunk.rows, columns }, 'npz', false));
  return Recording.open(store);
}

it.each(['samples', 'replays', 'steps', 'tensors', 'episodes'])(
  'an iteration of 1e15 in %s is damage',
  async (table) => {
    const recording = await changed(table, 'iteration', 1e15);
    expect((await validate(recording)).problems[0]).toMatch(/iteration.*more cycles than a run can have/);
    expect((await diagnose(recording)).verdict).not.toBe('healthy');
  },
);

it.each([
  ['episodes', 'return', Number.NaN],
  ['episodes', 'return', Number.POSITIVE_INFINITY],
  ['counters', 'value', Number.NaN],
  ['scalars', 'value', Number.NEGATIVE_INFINITY],
])('%s.%s of %d is evidence', async (table, column, value) => {
  const recording = await changed(table, column, value);
  expect((await validate(recording)).valid).toBe(true);
  const { verdict, causes } = await diagnose(recording);
  expect([verdict, causes[0].id]).toEqual(['faulty', 'non-finite']);
  expect(causes[0].summary).toContain(`${table}.${column}`);
});

it('a logged NaN may mean that the number was not known', async () => {
  expect((await diagnose(await changed('scalars', 'value', Number.NaN))).verdict).toBe('healthy');
});
