/** What a diagnosis says of a recording that is damaged, or that holds numbers no run should have: never that it is healthy. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { diagnose } from '../src/doctor/diagnose.ts';
import { validate } from '../src/recording/check/validate.ts';
import type { Chunk, Column, NumberColumn } from '../src/recording/column.ts';
import { folderStore, openRecording } from '../src/recording/node.ts';
import { Recording } from '../src/recording/recording.ts';
import { memoryStore, type WritableStore } from '../src/recording/source.ts';
import { RecordingWriter } from '../src/recording/writer.ts';
import { root } from './support/run.ts';

const example = join(root, 'examples', 'echo');

/** The example with one column changed. */
async function spoiled(table: string, column: string, change: (values: Float64Array) => void): Promise<Recording> {
  const recording = await openRecording(example);
  const store = memoryStore('spoiled');
  const writer = await RecordingWriter.create(store, recording.manifest, {});
  for (const name of recording.tables) {
    const { rows, columns }: Chunk = await recording.read(name);
    const changed = new Map<string, Column>(columns);
    if (name === table) {
      const own = columns.get(column) as NumberColumn;
      const values = Float64Array.from(own.values as Float64Array, Number);
      change(values);
      changed.set(column, { ...own, kind: 'float', values });
    }
    await writer.appendChunk(name, { rows, columns: changed });
  }
  await writer.close();
  return Recording.open(store);
}

const middle = (values: Float64Array, value: number) => {
  values[values.length >> 1] = value;
};

describe('a number that no run should have is evidence', () => {
  it.each([
    ['steps', 'loss', Number.NaN],
    ['steps', 'grad_norm', Number.NaN],
    ['steps', 'policy_loss', Number.NaN],
    ['steps', 'entropy', Number.POSITIVE_INFINITY],
    ['samples', 'logits', Number.NaN],
    ['replays', 'logits', Number.NaN],
    ['replays', 'weight', Number.NaN],
    ['samples', 'reward', Number.POSITIVE_INFINITY],
    ['samples', 'env_reward', Number.NEGATIVE_INFINITY],
    ['samples', 'obs', Number.NaN],
    ['replays', 'entropy', Number.POSITIVE_INFINITY],
    ['tensors', 'norm', Number.NaN],
  ])('one %s.%s of %d', async (table, column, value) => {
    const diagnosis = await diagnose(await spoiled(table, column, (values) => middle(values, value)));
    expect(diagnosis.verdict).toBe('faulty');
    expect(diagnosis.causes[0]).toMatchObject({
      id: 'non-finite',
      evidence: [{ measured: { first_column: `${table}.${column}` } }],
    });
  });

  it.each([
    ['steps', 'loss'],
    ['steps', 'policy_loss'],
    ['steps', 'grad_norm'],
    ['replays', 'weight'],
    ['replays', 'logits'],
    ['samples', 'logits'],
  ])('%s.%s of NaN throughout', async (table, column) => {
    const diagnosis = await diagnose(await spoiled(table, column, (values) => values.fill(Number.NaN)));
    expect(diagnosis.causes.map(({ id }) => id)).toContain('non-finite');
  });

  it('a candidate that its row calls legal and scores with minus infinity', async () => {
    const change = (values: Float64Array) => values.fill(Number.NEGATIVE_INFINITY);
    expect((await diagnose(await spoiled('samples', 'logits', change))).causes[0].id).toBe('non-finite');
  });
});

describe('rows that do not belong together are told, and are not called healthy', () => {
  it.each([
    ['samples', 'subset', 1e6, /lists other candidates than sample/],
    ['replays', 'subset', 1e6, /lists other candidates than sample/],
    ['samples', 'action', 100, /samples\.action.*holds 100 where the row has \d+ candidates/],
    ['samples', 'num_actions', 1, /where the row has 1 candidates/],
    ['samples', 'agent', 7, /holds 7, but manifest\.agents has 2 entries/],
    ['replays', 'sample', 1e9, /points to sample 1000000000/],
    ['steps', 'policy', 9, /manifest\.policies/],
    ['tensors', 'tensor', 1e9, /manifest\.tensors/],
    ['episodes', 'agent', 7, /episodes\.agent/],
  ])('one %s.%s of %d', async (table, column, value, sentence) => {
    const diagnosis = await diagnose(await spoiled(table, column, (values) => middle(values, value)));
    expect(diagnosis.verdict).not.toBe('healthy');
    expect(diagnosis.problems?.join('\n')).toMatch(sentence);
  });
});

/** The example's files in memory, to be damaged one by one. */
async function files(): Promise<{ store: WritableStore; bytes: Map<string, Uint8Array> }> {
  const store = memoryStore('damaged');
  const bytes = new Map<string, Uint8Array>();
  for (const path of await folderStore(example).list()) {
    bytes.set(path, readFileSync(join(example, path)));
    await store.write(path, [bytes.get(path)!]);
  }
  return { store, bytes };
}

/** Enough bytes that data is hit, whatever lies at the middle. */
function spoil(bytes: Uint8Array): Uint8Array {
  const middle = bytes.length >> 1;
  return bytes.map((byte, i) => (Math.abs(i - middle) < 100 ? byte ^ 0xff : byte));
}

describe('a file that is damaged', () => {
  it.each(['episodes', 'counters', 'scalars'])('of the table %s, which no check reads, is told', async (table) => {
    const { store, bytes } = await files();
    const damaged = spoil(bytes.get(`${table}/000000.npz`)!);
    await store.write(`${table}/000000.npz`, [damaged]);
    const recording = await Recording.open(store);
    expect((await validate(recording)).valid).toBe(false);
    const diagnosis = await diagnose(recording);
    expect(diagnosis.verdict).not.toBe('healthy');
    expect(diagnosis.problems?.join('\n')).toContain(`${table}/000000.npz`);
  });

  it.each(['samples', 'replays', 'steps', 'tensors'])('of the table %s stops the diagnosis', async (table) => {
    const { store, bytes } = await files();
    const damaged = spoil(bytes.get(`${table}/000000.npz`)!);
    await store.write(`${table}/000000.npz`, [damaged]);
    await expect(diagnose(await Recording.open(store))).rejects.toThrow(`${table}/000000.npz`);
  });

  it.each(['samples', 'replays', 'steps', 'tensors', 'episodes', 'counters', 'scalars'])(
    'of the table %s that is there twice is noticed',
    async (table) => {
      const { store, bytes } = await files();
      await store.write(`${table}/000001.npz`, [bytes.get(`${table}/000000.npz`)!]);
      const recording = await Recording.open(store);
      const { problems } = await validate(recording);
      expect(problems.join('\n')).toMatch(/000001\.npz.* holds the same \d+ rows as .*000000\.npz; remove the copy/);
      const diagnosis = await diagnose(recording);
      expect(diagnosis.verdict).not.toBe('healthy');
      expect(diagnosis.problems?.join('\n')).toContain('remove the copy');
    },
  );
});
