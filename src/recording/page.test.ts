import { describe, expect, it } from 'vitest';
import { plain } from '../../test/support/arbitraries.ts';
import { BadInput } from './bad-input.ts';
import { Recording } from './recording.ts';
import { blobStore, join, memoryStore } from './source.ts';
import { type Encoding, RecordingWriter } from './writer.ts';

// Nothing of Node is imported here: this is what a web page runs.
const rows = 3000;
const episodes = {
  episode: Int32Array.from({ length: rows }, (_, i) => i),
  agent: new Uint8Array(rows),
  return: Float32Array.from({ length: rows }, (_, i) => Math.sin(i)),
};

async function files(encoding: Encoding, compress: boolean) {
  const store = memoryStore('run');
  const writer = await RecordingWriter.create(store, { format: 'trueline/1' }, { encoding, compress });
  await writer.append('episodes', episodes);
  await writer.close();
  return Promise.all(
    (await store.list()).map(async (path) => {
      const source = await store.open(path);
      return { path, bytes: await source.read(0, source.size) };
    }),
  );
}

describe('a recording in a page', () => {
  it.each<[Encoding, boolean]>([
    ['npz', false],
    ['npz', true],
    ['parquet', false],
    ['jsonl', false],
    ['jsonl.gz', false],
  ])('is read from blobs: %s, compressed %s', async (encoding, compress) => {
    const dropped = (await files(encoding, compress)).map(({ path, bytes }) => ({ path, blob: new Blob([bytes]) }));
    const recording = await Recording.open(blobStore('dropped', dropped));
    const read = await recording.read('episodes');
    expect(plain(read, ['episode', 'return'])).toEqual({
      episode: [...episodes.episode],
      return: [...episodes.return],
    });
  });

  it.each<[Encoding, boolean]>([
    ['npz', true],
    ['jsonl.gz', false],
  ])('that is damaged or cut off is told: %s', async (encoding, compress) => {
    const made = await files(encoding, compress);
    for (const damage of ['flip', 'cut']) {
      const dropped = made.map(({ path, bytes }) => {
        if (path === 'manifest.json') return { path, blob: new Blob([bytes]) };
        const changed = damage === 'cut' ? bytes.slice(0, bytes.length / 2) : join([bytes]);
        if (damage === 'flip') changed[Math.floor(bytes.length / 3)] ^= 64;
        return { path, blob: new Blob([changed]) };
      });
      const recording = await Recording.open(blobStore('dropped', dropped));
      await expect(recording.read('episodes')).rejects.toBeInstanceOf(BadInput);
    }
  });
});
