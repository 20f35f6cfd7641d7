/** Small files that would grow: each is refused with the limit and how to raise it, or read in proportion to its size. */
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { secondsOf } from '../../../test/support/time.ts';
import '../node.ts';
import { ZipBuilder, zipStore } from '../files/zip.ts';
import { importLog } from '../importers/open.ts';
import { Recording } from '../recording.ts';
import { Budget, bytesSource, memoryStore } from '../source.ts';
import { validate } from './validate.ts';

const encode = (text: string) => new TextEncoder().encode(text);

function npy(descr: string, shape: string, data = new Uint8Array(0)): Uint8Array {
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': ${shape}, }\n`;
  const size = [header.length & 255, header.length >> 8];
  return Buffer.concat([Buffer.from([0x93, ...encode('NUMPY'), 1, 0, ...size]), encode(header), data]);
}

async function zipped(files: Record<string, Uint8Array>): Promise<Uint8Array> {
  const zip = new ZipBuilder();
  const parts: Uint8Array[] = [];
  for (const [name, bytes] of Object.entries(files)) parts.push(...(await zip.entry(name, [bytes], true)));
  return Buffer.concat([...parts, ...zip.end()]);
}

async function problems(files: Record<string, Uint8Array>): Promise<string> {
  const store = memoryStore('run');
  await store.write('manifest.json', [encode('{"format": "trueline/1"}')]);
  for (const [path, bytes] of Object.entries(files)) await store.write(path, [bytes]);
  return (await validate(await Recording.open(store))).problems.join('\n');
}

async function within(seconds: number, work: () => Promise<unknown>): Promise<void> {
  const taken = await secondsOf(() => work().catch((error: Error) => expect(error.name).toBe('BadInput')));
  expect(taken).toBeLessThan(seconds);
}

it.each([
  ['rows without entries', npy('<f4', '(2000000000, 0)')],
  ['texts without letters', npy('|S0', '(500000000,)')],
  ['texts without letters, of unicode', npy('<U0', '(500000000,)')],
])('npz: %s', async (_, array) => {
  expect(await problems({ 'samples/000000.npz': await zipped({ 'obs.npy': array, 'iteration.npy': array }) })).toMatch(
    /limit for files of this size|required column/,
  );
  expect(await problems({ 'mine/000000.npz': await zipped({ 'a.npy': array }) })).toMatch(
    /expands to more than 256 MiB, the limit for files of this size; raise it with --max-size/,
  );
});

it('npz: zeros that were packed a thousandfold, alone and inside a zip', async () => {
  const array = npy('|u1', '(400000000,)', new Uint8Array(400_000_000));
  const npz = await zipped({ 'a.npy': array });
  expect(npz.length).toBeLessThan(500_000);
  expect(await problems({ 'mine/000000.npz': npz })).toMatch(/expands to more than 256 MiB/);
  const outer = await zipped({ 'manifest.json': encode('{"format": "trueline/1"}'), 'mine/000000.npz': npz });
  const store = await zipStore(bytesSource('outer.zip', outer), new Budget());
  expect((await validate(await Recording.open(store))).problems.join('\n')).toMatch(/expands to more than 256 MiB/);
  await expect(zipStore(bytesSource('big.zip', npz), new Budget())).rejects.toThrow(/--max-size/);
}, 60_000);

it('is no bomb that lies on the disk at a tenth of its size, however large', () => {
  const budget = new Budget();
  const chunk = { size: 2 ** 30 };
  for (let i = 0; i < 40; i++) budget.claim(`samples/${i}.npz`, 9 * chunk.size, chunk);
  expect(() => budget.claim('samples/40.npz', 60 * chunk.size, chunk)).toThrow(
    /samples\/40.npz: expands to more than 410 GiB/,
  );
});

it('a limit that was asked for is the one that holds', async () => {
  const npz = await zipped({ 'a.npy': npy('|u1', '(1000000,)', new Uint8Array(1_000_000)) });
  await expect(zipStore(bytesSource('x.zip', npz), new Budget(500_000))).rejects.toThrow(/limit for one recording/);
  await zipStore(bytesSource('x.zip', npz), new Budget(2_000_000));
});

it('JSON lines: 16 MB of blanks, a line that never ends, more columns than a table has', async () => {
  await within(5, () => problems({ 'samples/000000.jsonl.gz': gzipSync(Buffer.alloc(16_000_000, ' ')) }));
  expect(await problems({ 'mine/0.jsonl.gz': gzipSync(Buffer.alloc(40_000_000, 'x')) })).toMatch(
    /line 1 is longer than 16 MiB/,
  );
  const wide = `{${Array.from({ length: 5000 }, (_, i) => `"c${i}":1`).join(',')}}\n`;
  expect(await problems({ 'mine/0.jsonl': encode(wide) })).toMatch(/more than 4096/);
  const growing = Array.from({ length: 60_000 }, (_, i) => `{"c${i}":1}`).join('\n');
  await within(5, () => problems({ 'mine/0.jsonl': encode(growing) }));
});

it('JSON lines: lists nested a hundred thousand deep are refused in a sentence', async () => {
  const deep = `{"iteration": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
  expect(await problems({ 'samples/0.jsonl': encode(deep) })).not.toBe('');
  await within(5, () => problems({ 'mine/0.jsonl': encode(deep) }));
});

it('logs: a quote that never closes, a line of dashes, quotes without end', async () => {
  const log = (name: string, text: string) => {
    const bytes = encode(text);
    const source = bytesSource(name, bytes);
    return importLog({ name, list: async () => [name], open: async () => source });
  };
  await within(5, () => log('a.csv', `a,b\n1,"${'x\n'.repeat(4_000_000)}`));
  await within(5, () => log('a.csv', `"${'a - '.repeat(200_000)}\n",b\n1,2\n`));
  await within(5, () => log('a.jsonl', `{${"'\\'".repeat(2_000_000)}\n`));
});
