import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { anyTable, plain } from '../../test/support/arbitraries.ts';
import { convert } from './convert.ts';
import './node.ts';
import { ZipBuilder, zipStore } from './files/zip.ts';
import { Recording } from './recording.ts';
import { Budget, bytesSource, join, memoryStore, type WritableStore } from './source.ts';
import { type Encoding, RecordingWriter } from './writer.ts';

const manifest = { format: 'trueline/1' as const };
const encodings: { encoding: Encoding; compress?: boolean }[] = [
  { encoding: 'npz' },
  { encoding: 'npz', compress: true },
  { encoding: 'parquet' },
  { encoding: 'jsonl' },
  { encoding: 'jsonl.gz' },
];

async function zipped(store: WritableStore): Promise<Recording> {
  const zip = new ZipBuilder();
  const parts: Uint8Array[] = [];
  for (const path of await store.list()) {
    const source = await store.open(path);
    parts.push(...(await zip.entry(path, [await source.read(0, source.size)], path.length % 2 === 0)));
  }
  parts.push(...zip.end());
  return Recording.open(await zipStore(bytesSource('run.zip', join(parts)), new Budget()));
}

describe('a recording', () => {
  it('can be held to settings that are meant, and keeps its own beside them', async () => {
    const store = memoryStore('run');
    await (await RecordingWriter.create(store, { ...manifest, settings: { gamma: 0.9, clip: 0.2 } })).close();
    const recording = await Recording.open(store);
    expect(recording.declaring({ gamma: 0.99 }).manifest.settings).toEqual({ gamma: 0.99, clip: 0.2 });
    expect(recording.manifest.settings).toEqual({ gamma: 0.9, clip: 0.2 });
  });

  it.each(encodings)(
    'comes back exactly as it was written: $encoding, compressed $compress, and from a zip of it',
    async (options) => {
      await fc.assert(
        fc.asyncProperty(anyTable, fc.boolean(), async ({ table, chunk }, packed) => {
          const store = memoryStore('run');
          const writer = await RecordingWriter.create(store, manifest, options);
          await writer.appendChunk(table, chunk);
          await writer.close();
          const recording = packed ? await zipped(store) : await Recording.open(store);
          expect(recording.tables).toEqual([table]);
          const read = await recording.read(table);
          expect(read.rows).toBe(chunk.rows);
          if (chunk.rows === 0 && options.encoding.startsWith('jsonl')) return;
          expect([...read.columns.keys()].sort()).toEqual([...chunk.columns.keys()].sort());
          expect(plain(read, [...chunk.columns.keys()])).toEqual(plain(chunk));
          for (const [name, column] of read.columns) expect(column.kind).toBe(chunk.columns.get(name)?.kind);
        }),
        { numRuns: 120 },
      );
    },
  );

  it('gives the columns asked for, and the number of rows even if it has none of them', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyTable,
        fc.constantFrom(...encodings),
        fc.array(fc.nat(20)),
        async ({ table, chunk }, options, picks) => {
          const store = memoryStore('run');
          const writer = await RecordingWriter.create(store, manifest, options);
          await writer.appendChunk(table, chunk);
          await writer.close();
          const names = [...chunk.columns.keys()];
          const asked = picks.map((pick) => names[pick % names.length]);
          const recording = await Recording.open(store);
          const read = await recording.read(table, asked);
          expect(read.rows).toBe(chunk.rows);
          if (chunk.rows > 0) expect(plain(read, asked)).toEqual(plain(chunk, asked));
          expect([...read.columns.keys()].every((name) => asked.includes(name))).toBe(true);
          expect((await recording.read(table, ['nothing'])).rows).toBe(chunk.rows);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('is the same after a conversion from any encoding to any other, unknown tables and columns included', async () => {
    await fc.assert(
      fc.asyncProperty(
        anyTable,
        fc.constantFrom(...encodings),
        fc.constantFrom(...encodings),
        async ({ table, chunk }, from, to) => {
          const first = memoryStore('first');
          const writer = await RecordingWriter.create(first, { ...manifest, custom: { kept: [1] } }, from);
          await writer.appendChunk(table, chunk);
          await writer.append('my_table', {
            weight: Float32Array.of(1.5, Number.NaN),
            label: ['x', 'y'],
            list: { values: Int32Array.of(1, 2, 3), offsets: Int32Array.of(0, 3, 3) },
          });
          await writer.close();
          const second = memoryStore('second');
          await convert(await Recording.open(first), second, to);
          const recording = await Recording.open(second);
          expect(recording.manifest).toEqual({ ...manifest, custom: { kept: [1] } });
          const read = await recording.read(table);
          expect(read.rows).toBe(chunk.rows);
          if (chunk.rows > 0) expect(plain(read, [...chunk.columns.keys()])).toEqual(plain(chunk));
          expect(plain(await recording.read('my_table'))).toEqual({
            weight: [1.5, Number.NaN],
            label: ['x', 'y'],
            list: [[1, 2, 3], []],
          });
        },
      ),
      { numRuns: 60 },
    );
  });

  it('joins chunks in name order, of mixed encodings, and a column that some lack is unknown there', async () => {
    const store = memoryStore('run');
    const row = (t: number) => ({
      iteration: Int32Array.of(0),
      episode: Int32Array.of(0),
      t: Int32Array.of(t),
      agent: Int32Array.of(0),
      old_logp: Float32Array.of(-t),
    });
    for (const [i, encoding] of (['npz', 'parquet', 'jsonl'] as const).entries()) {
      const writer = await RecordingWriter.create(store, manifest, { encoding, chunkRows: 1, resume: { samples: i } });
      await writer.append('samples', { ...row(i), ...(i === 1 ? { reward: Float64Array.of(7) } : {}) });
      await writer.close();
    }
    const recording = await Recording.open(store);
    expect(recording.chunkFiles('samples')).toEqual([
      'samples/000000.npz',
      'samples/000001.parquet',
      'samples/000002.jsonl',
    ]);
    const read = await recording.read('samples');
    expect(plain(read, ['t', 'reward'])).toEqual({ t: [0, 1, 2], reward: [Number.NaN, 7, Number.NaN] });
    expect(plain(read, ['old_logp'])).toEqual({ old_logp: [-0, -1, -2] });
  });

  it('reads text kept as indices into a list of the manifest', async () => {
    const store = memoryStore('run');
    const writer = await RecordingWriter.create(store, {
      ...manifest,
      names: { 'counters.name': ['updates.policy', 'order'] },
    });
    await writer.append('counters', {
      iteration: Int32Array.of(0, 1),
      agent: Int32Array.of(0, 0),
      name: ['', ''],
      value: Float32Array.of(1, 2),
    });
    await writer.close();
    // The writer keeps text as text; what another program wrote is made by hand.
    const { encodeNpz } = await import('./files/npz.ts');
    const chunk = (await Recording.open(store)).read('counters');
    const columns = (await chunk).columns;
    columns.set('name', { kind: 'int', rows: 2, values: Uint8Array.of(1, 0) });
    await store.write('counters/000000.npz', await encodeNpz({ rows: 2, columns }));
    expect(plain(await (await Recording.open(store)).read('counters'), ['name'])).toEqual({
      name: ['order', 'updates.policy'],
    });
  });

  const scalars = (value: number) => ({ name: ['loss'], value: Float64Array.of(value) });
  const values = async (store: WritableStore) =>
    plain(await (await Recording.open(store)).read('scalars'), ['value']).value;
  /** One chunk for each number, and the position after the first. */
  const written = async (store: WritableStore, numbers: number[]) => {
    const writer = await RecordingWriter.create(store, manifest);
    let position = {};
    for (const [i, number] of numbers.entries()) {
      await writer.append('scalars', scalars(number));
      await writer.flush();
      if (i === 0) position = writer.position();
    }
    return position;
  };

  it('is continued by a writer from a position, and what was written after it is replaced', async () => {
    const store = memoryStore('run');
    const position = await written(store, [1, 2, 7]);
    const again = await RecordingWriter.create(store, manifest, { resume: position });
    expect(await values(store)).toEqual([1, 2, 7]);
    await again.append('scalars', scalars(3));
    await again.close();
    expect(await values(store)).toEqual([1, 3]);
  });

  it('is continued without a write or a removal as long as the same rows come again', async () => {
    const store = memoryStore('run');
    const position = await written(store, [1, 2, 7, 8]);
    const done: string[] = [];
    const watched: WritableStore = {
      ...store,
      write: async (path, parts) => {
        done.push(`write ${path}`);
        await store.write(path, parts);
      },
      remove: async (path) => {
        done.push(`remove ${path}`);
        await store.remove(path);
      },
    };
    const again = await RecordingWriter.create(watched, manifest, { resume: position });
    for (const number of [2, 7]) {
      await again.append('scalars', scalars(number));
      await again.flush();
    }
    expect(done).toEqual(['write manifest.json']);
    await again.append('scalars', scalars(9));
    await again.close();
    expect(done.slice(1)).toEqual(['write scalars/000003.npz', 'write manifest.json']);
    expect(await values(store)).toEqual([1, 2, 7, 9]);
  });

  it('is begun and continued without touching files that are not its own', async () => {
    const own = ['sub/20240101.jpg', 'scalars/000009.npz', 'scalars/000001.png', 'checkpoints/000001.checkpoint'];
    const store = memoryStore('run');
    const position = await written(store, [1, 2]);
    for (const path of own) await store.write(path, [Uint8Array.of(1)]);
    const again = await RecordingWriter.create(store, manifest, { resume: position });
    await again.close();
    expect((await store.list()).sort()).toEqual([...own, 'manifest.json', 'scalars/000000.npz'].sort());
    await expect(RecordingWriter.create(store, manifest)).rejects.toThrow(/already holds a run/);
    const foreign = memoryStore('mine');
    await foreign.write('sub/20240101.jpg', [Uint8Array.of(1)]);
    await expect(RecordingWriter.create(foreign, manifest)).rejects.toThrow(/is not empty.*20240101/);
    expect(await foreign.list()).toEqual(['sub/20240101.jpg']);
  });
});
