/** Ways to spoil bytes, JSON and tables. Every choice comes from the stream, so that a case is its seed. */
import type { RandomStream } from '../../src/math/random.ts';
import type { Chunk, Column } from '../../src/recording/column.ts';

const extremes = [0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff];
const numbers = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0, 1e6, 1e9, -1e308, 2 ** 53, 0.5];

export const pick = <T>(random: RandomStream, items: readonly T[]): T => items[random.below(items.length)];

export function spoilBytes(random: RandomStream, bytes: Uint8Array): Uint8Array {
  let out = Uint8Array.from(bytes);
  for (let times = 1 + random.below(4); times > 0 && out.length > 0; times--) {
    const at = random.below(out.length);
    const way = random.below(6);
    if (way === 0) out[at] ^= 1 << random.below(8);
    else if (way === 1) out = out.slice(0, at);
    else if (way === 2 && at + 4 <= out.length) new DataView(out.buffer).setUint32(at, pick(random, extremes), true);
    else if (way === 3) out.fill(random.below(256), at, Math.min(out.length, at + random.below(64)));
    else {
      const piece = out.slice(at, at + random.below(200));
      out = Uint8Array.from([...out.subarray(0, at), ...piece, ...out.subarray(way === 4 ? at : at + piece.length)]);
    }
  }
  return out;
}

function wild(random: RandomStream): unknown {
  const deep = 10 ** random.below(5);
  return pick(random, [
    null,
    true,
    '',
    -1,
    1e308,
    2 ** 53,
    0.1,
    [],
    {},
    '\u001b[2J',
    '../../etc/passwd',
    '--schema=x',
    'x'.repeat(10_000),
    JSON.parse(`${'['.repeat(deep)}${']'.repeat(deep)}`),
    JSON.parse('{"__proto__": {"x": 1}}'),
    Array.from({ length: 1000 }, (_, i) => i),
  ]);
}

/** JSON of a value however deep it is: what is still to be written waits in a list, not on the stack. */
export function writtenOut(value: unknown): string {
  const waiting: { value: unknown; text?: string }[] = [{ value }];
  let out = '';
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (next.text !== undefined) out += next.text;
    else if (typeof next.value === 'object' && next.value !== null) {
      const list = Array.isArray(next.value);
      const parts = Object.entries(next.value).flatMap(([key, item], i) => [
        { value: null, text: `${i > 0 ? ',' : ''}${list ? '' : `${JSON.stringify(key)}:`}` },
        { value: item },
      ]);
      out += list ? '[' : '{';
      waiting.push({ value: null, text: list ? ']' : '}' }, ...parts.reverse());
    } else out += JSON.stringify(next.value) ?? 'null';
  }
  return out;
}

/** Another value at one place of a tree, a key gone, or a key more. */
export function spoilJson(random: RandomStream, data: unknown): unknown {
  if (typeof data !== 'object' || data === null || random.below(6) === 0) return wild(random);
  const keys = Object.keys(data);
  const copy = (Array.isArray(data) ? [...data] : { ...data }) as Record<string, unknown>;
  const key = keys.length > 0 ? pick(random, keys) : 'x';
  const way = random.below(8);
  if (way === 0) delete copy[key];
  else if (way === 1) copy[pick(random, ['constructor', 'toString', 'x', '0'])] = wild(random);
  else copy[key] = spoilJson(random, copy[key]);
  return copy;
}

export function spoilText(random: RandomStream, text: string): string {
  const at = random.below(text.length + 1);
  const word = pick(random, [
    '"',
    '""',
    ',',
    '\n',
    '\0',
    'NaN',
    '1e999',
    "'",
    '\\',
    '{',
    '[',
    ' '.repeat(5000),
    ',,'.repeat(2000),
    '\ufeff',
    '- - ',
  ]);
  return (
    text.slice(0, at) + word + text.slice(random.below(3) === 0 ? Math.min(text.length, at + random.below(400)) : at)
  );
}

/** One column with other numbers, another length, other offsets, or gone. */
export function spoilChunk(random: RandomStream, chunk: Chunk): Chunk {
  const columns = new Map<string, Column>(chunk.columns);
  const name = pick(random, [...columns.keys()]);
  const column = columns.get(name)!;
  const way = random.below(6);
  if (way === 0) columns.delete(name);
  else if (column.kind === 'text')
    columns.set(name, {
      ...column,
      values: column.values.map((text, i) => (i % 7 === way ? '\u001b]0;x\u0007' : text)),
    });
  else if (way === 1 && column.offsets) {
    const offsets = Int32Array.from(column.offsets);
    offsets[random.below(offsets.length)] = pick(random, [-1, 0, 5, 1e9]);
    columns.set(name, { ...column, offsets });
  } else if (way === 2)
    columns.set(name, { ...column, values: column.values.slice(0, random.below(column.values.length + 1)) });
  else {
    const values = Float64Array.from(column.values as Float64Array, Number);
    const value = pick(random, numbers);
    for (let times = pick(random, [1, 1, 5, values.length]); times > 0; times--)
      values[times === values.length ? times - 1 : random.below(Math.max(1, values.length))] = value;
    columns.set(name, { ...column, kind: 'float', values });
  }
  return { rows: chunk.rows, columns };
}
