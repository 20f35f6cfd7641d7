import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkOf, plain } from '../../../test/support/arbitraries.ts';
import { BadInput } from '../bad-input.ts';
import type { Column } from '../column.ts';
import '../node.ts';
import { encodeNpz } from '../files/npz.ts';
import { readEntry, ZipBuilder, zipDirectory, zipStore } from '../files/zip.ts';
import { Recording } from '../recording.ts';
import { Budget, bytesSource, join, memoryStore } from '../source.ts';
import { type Encoding, RecordingWriter } from '../writer.ts';

const manifest = { format: 'trueline/1' as const };
const utf8 = (text: string) => new TextEncoder().encode(text);

/** A recording whose table `samples` is the one given file. */
async function readFile(name: string, bytes: Uint8Array, options = {}) {
  const store = memoryStore('run');
  await store.write('manifest.json', [utf8(JSON.stringify(manifest))]);
  await store.write(`samples/${name}`, [bytes]);
  return (await Recording.open(store, options)).read('samples');
}

/** The one sentence that reading ends with. */
async function complaint(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(BadInput);
  const { message } = error as BadInput;
  expect(message).not.toMatch(/\n|undefined|\[object/);
  return message;
}

const columns = (change: Record<string, Column> = {}): Map<string, Column> =>
  new Map<string, Column>(
    Object.entries({
      iteration: { kind: 'int', rows: 2, values: Int32Array.of(0, 0) },
      episode: { kind: 'int', rows: 2, values: Int32Array.of(0, 0) },
      t: { kind: 'int', rows: 2, values: Int32Array.of(0, 1) },
      agent: { kind: 'int', rows: 2, values: Int32Array.of(0, 0) },
      old_logp: { kind: 'float', rows: 2, values: Float32Array.of(-1, -2) },
      ...change,
    } as Record<string, Column>),
  );
const npz = async (change: Record<string, Column>, drop?: string) => {
  const made = columns(change);
  if (drop) made.delete(drop);
  return join(await encodeNpz({ rows: 2, columns: made }));
};
const reading = async (change: Record<string, Column>, drop?: string) =>
  complaint(readFile('000000.npz', await npz(change, drop)));

describe('bad input gets one sentence with file, table, column and row', () => {
  it('a missing required column', async () => {
    expect(await reading({}, 'old_logp')).toBe(
      'run/samples/000000.npz, samples.old_logp: the required column is missing; the file has iteration, episode, t, agent',
    );
    expect(await complaint(readFile('000000.jsonl', utf8('{"iteration":0,"episode":0,"t":0,"agent":0}\n')))).toMatch(
      /samples\.old_logp: the required column is missing in line 1/,
    );
  });

  it('a wrong type', async () => {
    expect(await reading({ agent: { kind: 'text', rows: 2, values: ['IND', 'EDU'] } })).toMatch(
      /^run\/samples\/000000.npz, samples\.agent, row 0: holds text such as "IND" where whole numbers are expected/,
    );
    expect(await reading({ t: { kind: 'float', rows: 2, values: Float32Array.of(0, 0.5) } })).toMatch(
      /samples\.t, row 1: holds 0\.5 where a whole number/,
    );
    expect(await reading({ terminated: { kind: 'int', rows: 2, values: Int8Array.of(0, 2) } })).toMatch(
      /samples\.terminated, row 1: holds 2 where true or false/,
    );
    expect(await reading({ logits: { kind: 'float', rows: 2, values: Float32Array.of(0, 1) } })).toMatch(
      /samples\.logits: has one number per row where a list/,
    );
    expect(
      await complaint(readFile('000000.jsonl', utf8('{"iteration":0,"episode":0,"t":"x","agent":0,"old_logp":-1}\n'))),
    ).toMatch(/samples\.t, row 0: holds "x" where a number is expected \(line 1\)/);
  });

  it('offsets that decrease, pass the end or do not begin at 0', async () => {
    const logits = (offsets: number[]): Record<string, Column> => ({
      logits: { kind: 'float', rows: 2, values: Float32Array.of(1, 2, 3), offsets: Int32Array.from(offsets) },
    });
    expect(await reading(logits([0, 4, 3]))).toMatch(/samples\.logits, row 1: its offsets decrease from 4 to 3/);
    expect(await reading(logits([0, 2, 5]))).toMatch(
      /samples\.logits, row 1: its offsets end at 5 but it has 3 values/,
    );
    expect(await reading(logits([1, 2, 3]))).toMatch(/its offsets begin with 1/);
  });

  it('NaN or a negative number in a key column', async () => {
    expect(await reading({ agent: { kind: 'int', rows: 2, values: Int32Array.of(0, -1) } })).toMatch(
      /samples\.agent, row 1: holds -1; a key must be known and not negative/,
    );
    expect(await reading({ episode: { kind: 'float', rows: 2, values: Float64Array.of(Number.NaN, 0) } })).toMatch(
      /samples\.episode, row 0: holds NaN/,
    );
    expect(
      await complaint(readFile('000000.jsonl', utf8('{"iteration":0,"episode":0,"t":0,"agent":null,"old_logp":-1}\n'))),
    ).toMatch(/samples\.agent, row 0: holds NaN/);
  });

  it('columns of unequal length', async () => {
    expect(await reading({ reward: { kind: 'float', rows: 3, values: Float32Array.of(1, 2, 3) } })).toMatch(
      /samples\.reward: has 3 rows where iteration has 2/,
    );
  });

  it('big-endian npz and Python objects', async () => {
    const bytes = await npz({});
    const text = new TextDecoder('latin1').decode(bytes);
    const swapped = bytes.slice();
    swapped[text.indexOf('<f4')] = '>'.charCodeAt(0);
    // The checksum of the changed entry must be right, or the damage would be told instead.
    expect(await complaint(readFile('000000.npz', repaired(swapped)))).toMatch(
      /old_logp\.npy: is big-endian \(>f4\); save it little-endian/,
    );
  });

  it('an unknown format version, a manifest that is no JSON, a folder that is no recording', async () => {
    const open = async (text?: string) => {
      const store = memoryStore('run');
      if (text !== undefined) await store.write('manifest.json', [utf8(text)]);
      return complaint(Recording.open(store));
    };
    expect(await open()).toMatch(/^run: is no recording: it has no manifest\.json/);
    expect(await open('{"format":"trueline/9"}')).toBe(
      'run/manifest.json: has the format "trueline/9"; this program reads "trueline/1"',
    );
    expect(await open('{"agents":[]}')).toMatch(/has no "format"/);
    expect(await open('')).toMatch(/is not valid JSON \(it is empty\)/);
    expect(await open('[1]')).toMatch(/must hold one JSON object/);
    expect(await open('{"format":"trueline/1","agents":[{"name":3}]}')).toMatch(/agents\.0\.name/);
  });

  it('a JSONL line that is not JSON, by its number', async () => {
    const good = '{"iteration":0,"episode":0,"t":0,"agent":0,"old_logp":-1}\n';
    expect(await complaint(readFile('000000.jsonl', utf8(`${good}${good}{"iteration":0,\n`)))).toMatch(
      /^run\/samples\/000000.jsonl, samples: line 3 is not JSON/,
    );
    expect(await complaint(readFile('000000.jsonl', utf8(`${good}[1]\n`)))).toMatch(/line 2 must hold one JSON object/);
    const python =
      '{"iteration":0,"episode":0,"t":0,"agent":0,"old_logp":-Infinity,"reward":NaN,"note":"NaN, so \\"NaN\\""}\n';
    const read = await readFile('000000.jsonl', utf8(python));
    expect(plain(read, ['old_logp', 'reward', 'note'])).toEqual({
      old_logp: [Number.NEGATIVE_INFINITY],
      reward: [Number.NaN],
      note: ['NaN, so "NaN"'],
    });
  });

  it.each(['npz', 'parquet', 'jsonl', 'jsonl.gz'])('an empty %s file', async (encoding) => {
    expect(await complaint(readFile(`000000.${encoding}`, new Uint8Array(0)))).toMatch(/^run\/samples\/000000/);
  });

  it('a zip that expands beyond the limit, declared or not', async () => {
    const zip = new ZipBuilder();
    const bomb = join([...(await zip.entry('old_logp.npy', [new Uint8Array(1 << 20)], true)), ...zip.end()]);
    expect(await complaint(readFile('000000.npz', bomb, { maxSize: 1 << 19 }))).toMatch(
      /000000.npz: expands to more than 512 KiB, the limit/,
    );
    await expect(zipStore(bytesSource('run.zip', bomb), new Budget(1000))).rejects.toThrow(
      /expands to more than 1000 bytes/,
    );
    // The directory says 4 bytes; the data is a mebibyte.
    const liar = bomb.slice();
    new DataView(liar.buffer).setUint32(directoryOf(liar) + 24, 4, true);
    const source = bytesSource('liar.npz', liar);
    const [entry] = await zipDirectory(source);
    expect(await complaint(readEntry(source, entry))).toMatch(/unpacks to more bytes than its directory declares/);
  });

  it('a zip entry that escapes the folder', async () => {
    for (const path of ['../evil.json', '/etc/passwd', 'a/../../b', 'C:\\x', 'a\\..\\b']) {
      const zip = new ZipBuilder();
      const bytes = join([...(await zip.entry(path, [utf8('x')], false)), ...zip.end()]);
      await expect(zipStore(bytesSource('run.zip', bytes), new Budget())).rejects.toThrow(/escapes the folder/);
    }
  });

  it('values beyond the exact whole numbers', async () => {
    expect(await reading({ episode: { kind: 'int', rows: 2, values: BigInt64Array.of(1n, 2n ** 60n) } })).toMatch(
      /samples\.episode, row 1: holds 1152921504606846976, beyond the whole numbers that are exact/,
    );
  });
});

describe('damage', () => {
  const damage = fc.array(fc.tuple(fc.constantFrom('flip', 'cut', 'insert', 'zero'), fc.nat(), fc.nat(255)), {
    minLength: 1,
    maxLength: 4,
  });

  function damaged(bytes: Uint8Array, changes: [string, number, number][]): Uint8Array {
    let out = Uint8Array.from(bytes);
    for (const [how, where, byte] of changes) {
      const at = where % Math.max(1, out.length);
      if (how === 'flip') out[at] ^= byte || 1;
      else if (how === 'cut') out = out.slice(0, at);
      else if (how === 'zero') out.fill(0, at, at + byte);
      else out = join([out.subarray(0, at), Uint8Array.of(byte), out.subarray(at)]);
    }
    return out;
  }

  it.each<{ encoding: Encoding; compress?: boolean; checked: boolean }>([
    { encoding: 'npz', checked: true },
    { encoding: 'npz', compress: true, checked: true },
    { encoding: 'parquet', checked: false },
    { encoding: 'jsonl', checked: false },
    { encoding: 'jsonl.gz', checked: true },
  ])(
    'to a $encoding file (compressed $compress) never crashes, hangs or returns wrong rows past a checksum',
    async ({ encoding, compress, checked }) => {
      await fc.assert(
        fc.asyncProperty(chunkOf('samples', 4), damage, async (chunk, changes) => {
          const store = memoryStore('run');
          const writer = await RecordingWriter.create(store, manifest, { encoding, compress });
          await writer.appendChunk('samples', chunk);
          await writer.close();
          const path = `samples/000000.${encoding}`;
          const source = await store.open(path);
          const bytes = await source.read(0, source.size);
          await store.write(path, [damaged(bytes, changes)]);
          const whole = await (await Recording.open(store)).read('samples').catch((error: unknown) => {
            if (error instanceof BadInput) return undefined;
            throw error;
          });
          if (!whole || !checked || chunk.rows === 0) return;
          const names = [...whole.columns.keys()].filter((name) => chunk.columns.has(name));
          expect(plain(whole, names)).toEqual(plain(chunk, names));
        }),
        { numRuns: process.env.TRUELINE_QUICK ? 30 : 1000 },
      );
    },
  );

  it('to a zip of a recording is told as well', async () => {
    const store = memoryStore('run');
    const writer = await RecordingWriter.create(store, manifest);
    await writer.appendChunk('samples', { rows: 2, columns: columns() });
    await writer.close();
    const zip = new ZipBuilder();
    const parts: Uint8Array[] = [];
    for (const path of await store.list()) {
      const source = await store.open(path);
      parts.push(...(await zip.entry(path, [await source.read(0, source.size)], path.endsWith('json'))));
    }
    const bytes = join([...parts, ...zip.end()]);
    await fc.assert(
      fc.asyncProperty(damage, async (changes) => {
        try {
          const recording = await Recording.open(
            await zipStore(bytesSource('run.zip', damaged(bytes, changes)), new Budget()),
          );
          for (const table of recording.tables) {
            expect(plain(await recording.read(table), ['t', 'old_logp'])).toEqual({ t: [0, 1], old_logp: [-1, -2] });
          }
        } catch (error) {
          if (!(error instanceof BadInput)) throw error;
        }
      }),
      { numRuns: 500 },
    );
  });
});

function directoryOf(bytes: Uint8Array): number {
  for (let i = bytes.length - 22; i >= 0; i--)
    if (bytes[i] === 0x50 && bytes[i + 1] === 0x4b && bytes[i + 2] === 1 && bytes[i + 3] === 2) return i;
  throw new Error('no directory');
}

/** Rebuilds an uncompressed zip so that its checksums fit its contents. */
function repaired(bytes: Uint8Array): Uint8Array {
  const out = bytes.slice();
  const view = new DataView(out.buffer);
  for (let i = 0; i + 46 < out.length; i++) {
    if (view.getUint32(i, true) !== 0x02014b50) continue;
    const at = view.getUint32(i + 42, true);
    const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    const sum = crc(out.subarray(start, start + view.getUint32(i + 24, true)));
    view.setUint32(i + 16, sum, true);
  }
  return out;
}

/** Bit by bit, apart from the program's own. */
function crc(bytes: Uint8Array): number {
  let c = ~0;
  for (const byte of bytes) {
    c ^= byte;
    for (let k = 0; k < 8; k++) c = c & 1 ? (c >>> 1) ^ 0xedb88320 : c >>> 1;
  }
  return ~c >>> 0;
}
