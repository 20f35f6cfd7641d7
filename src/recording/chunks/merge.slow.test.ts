import { expect, it } from 'vitest';
import { memoryStore, Recording, RecordingWriter } from '../index.ts';
import type { WritableStore } from '../source.ts';

const manifest = { format: 'trueline/1' as const, name: 'run' };

/** So many chunks of a few rows each, in two tables, one with lists and texts. */
async function written(store: WritableStore, chunks: number, encoding: 'npz' | 'parquet' = 'npz') {
  const writer = await RecordingWriter.create(store, manifest, { encoding });
  for (let i = 0; i < chunks; i++) await row(writer, i);
  return writer;
}

async function row(writer: RecordingWriter, i: number) {
  await writer.append('scalars', {
    iteration: Int32Array.of(i, i),
    name: ['a', `b${i % 3}`],
    value: Float64Array.of(i / 7, Number.NaN),
  });
  await writer.append('samples', {
    iteration: Int32Array.of(i),
    episode: Int32Array.of(i),
    t: Int32Array.of(0),
    agent: Int32Array.of(0),
    old_logp: Float32Array.of(-i / 3),
    logits: { values: Float32Array.from({ length: i % 4 }, (_, k) => k / 3), offsets: Int32Array.of(0, i % 4) },
  });
  await writer.flush();
}

async function content(store: WritableStore) {
  const recording = await Recording.open(store);
  return Promise.all(['scalars', 'samples'].map((table) => recording.read(table)));
}

it.each(['npz', 'parquet'] as const)(
  'merges hundreds of small chunks into a few, row by row the same (%s)',
  async (encoding) => {
    const [plain, small] = [memoryStore('run'), memoryStore('run')];
    await (await written(plain, 234, encoding)).close();
    const writer = await written(small, 234, encoding);
    await writer.merge(writer.position());
    await writer.close();
    expect((await plain.list()).length).toBe(2 * 234 + 1);
    const names = (await small.list()).filter((path) => path.startsWith('samples'));
    expect(names.map((path) => path.replace(/\.\w+$/, ''))).toEqual([
      'samples/000000-000099',
      'samples/000100-000199',
      'samples/000200-000209',
      'samples/000210-000219',
      'samples/000220-000229',
      ...[230, 231, 232, 233].map((number) => `samples/000${number}`),
    ]);
    expect(await content(small)).toEqual(await content(plain));
  },
);

it('leaves alone what a checkpoint may still count from, and goes on from there', async () => {
  const [plain, store] = [memoryStore('run'), memoryStore('run')];
  await (await written(plain, 40)).close();
  const writer = await written(store, 25);
  await writer.merge({ scalars: 20, samples: 20 });
  const position = { scalars: 21, samples: 21 };
  const again = await RecordingWriter.create(store, manifest, { resume: position });
  for (let i = 21; i < 40; i++) await row(again, i);
  await again.merge({ scalars: 40, samples: 40 });
  await again.close();
  expect(await content(store)).toEqual(await content(plain));
});

it('counts no row twice and loses none, wherever the program is killed', async () => {
  const plain = memoryStore('run');
  await (await written(plain, 30)).close();
  const expected = await content(plain);
  for (let room = 0; ; room++) {
    const store = memoryStore('run');
    const writer = await written(store, 30);
    let left = room;
    const failing =
      <T extends unknown[]>(work: (...args: T) => Promise<void>) =>
      async (...args: T) => {
        if (left-- <= 0) throw new Error('killed');
        await work(...args);
      };
    const [write, remove] = [store.write, store.remove];
    Object.assign(store, { write: failing(write), remove: failing(remove) });
    const done = await writer.merge(writer.position()).then(
      () => true,
      () => false,
    );
    Object.assign(store, { write, remove });
    expect(await content(store), String(room)).toEqual(expected);
    // The next writer tidies up.
    const next = await RecordingWriter.create(store, manifest, { resume: { scalars: 30, samples: 30 } });
    await next.close();
    expect(await content(store), String(room)).toEqual(expected);
    if (done) break;
  }
});
