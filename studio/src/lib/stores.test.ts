import { afterEach, describe, expect, it, vi } from 'vitest';
import { memoryStore, Recording, RecordingWriter } from '../../../src/recording/index.ts';
import { remoteStore, setBase } from './stores.ts';

/** Answers as the studio's server does, and keeps what it was asked for. */
async function serve(store: ReturnType<typeof memoryStore>): Promise<string[]> {
  const asked: string[] = [];
  vi.stubGlobal('fetch', async (address: URL | string, options?: { headers: { Range: string } }) => {
    const { pathname } = new URL(address);
    asked.push(pathname);
    if (pathname.startsWith('/api/files/')) {
      const files = await Promise.all(
        (await store.list()).map(async (path) => ({ path, size: (await store.open(path)).size })),
      );
      return Response.json({ files });
    }
    const [, first, last] = /bytes=(\d+)-(\d+)/.exec(options!.headers.Range)!;
    const source = await store.open(pathname.replace('/file/run/', ''));
    return new Response(await source.read(Number(first), Number(last) + 1), { status: 206 });
  });
  return asked;
}

describe('a run on the server', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('is read with one request for each small chunk, however many columns it has, and its manifest anew', async () => {
    const store = memoryStore('run');
    const writer = await RecordingWriter.create(store, { format: 'trueline/1' }, { encoding: 'npz' });
    for (const value of [1, 2, 3]) {
      await writer.append('scalars', { name: ['loss'], value: Float64Array.of(value), step: Int32Array.of(value) });
      await writer.flush();
    }
    await writer.close();
    setBase('http://studio/');
    const asked = await serve(store);
    const remote = remoteStore('run');
    const chunks = (await store.list()).filter((path) => path !== 'manifest.json').map((path) => `/file/run/${path}`);
    expect(chunks.length).toBe(3);
    for (const _ of [1, 2]) {
      const { columns } = await (await Recording.open(remote)).read('scalars');
      expect([...(columns.get('value')!.values as Float64Array)]).toEqual([1, 2, 3]);
    }
    expect(asked.filter((path) => path.endsWith('.npz'))).toEqual(chunks);
    expect(asked.filter((path) => path.endsWith('manifest.json')).length).toBe(2);
  });
});
