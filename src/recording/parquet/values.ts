/** The values of one page, straight into a typed array. Only values that exist are stored in a page: nulls and empty lists have levels alone. */

import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';
import { readDeltas } from './delta.ts';
import { readRuns, unpack } from './runs.ts';
import type { Physical } from './schema.ts';

export type Store = Uint8Array | Int32Array | BigInt64Array | Float32Array | Float64Array | string[];

export const WIDTH: Record<Physical, number> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  FLOAT: 4,
  DOUBLE: 8,
  FLOAT16: 4,
  BYTE_ARRAY: 8,
};

export function makeStore(physical: Physical, length: number): Store {
  if (physical === 'BOOLEAN') return new Uint8Array(length);
  if (physical === 'INT32') return new Int32Array(length);
  if (physical === 'INT64') return new BigInt64Array(length);
  if (physical === 'DOUBLE') return new Float64Array(length);
  if (physical === 'BYTE_ARRAY') return [];
  return new Float32Array(length);
}

/** Puts `count` values at out[from ..); the bytes must hold exactly them. */
export function readValues(
  encoding: string,
  physical: Physical,
  bytes: Uint8Array,
  dictionary: Store | undefined,
  out: Store,
  from: number,
  count: number,
): void {
  if (encoding === 'PLAIN') readPlain(physical, bytes, out, from, count);
  else if (encoding === 'PLAIN_DICTIONARY' || encoding === 'RLE_DICTIONARY') {
    readIndexed(bytes, dictionary, out, from, count);
  } else if (encoding === 'RLE' && physical === 'BOOLEAN') {
    if (bytes.length < 4)
      throw new BadInput(
        told('a page of booleans ends too early, so the file is damaged', '布尔值的页结束过早，文件已损坏'),
      );
    const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
    if (length > bytes.length - 4)
      throw new BadInput(
        told('a page of booleans ends too early, so the file is damaged', '布尔值的页结束过早，文件已损坏'),
      );
    const greatest = readRuns(bytes, 4, 4 + length, 1, out as Uint8Array, from, count);
    if (greatest > 1)
      throw new BadInput(
        told('a boolean is neither 0 nor 1, so the file is damaged', '有一个布尔值既不是 0 也不是 1，文件已损坏'),
      );
  } else if (encoding === 'DELTA_BINARY_PACKED' && (physical === 'INT32' || physical === 'INT64')) {
    readDeltas(bytes, 0, out as Int32Array | BigInt64Array, from, count);
  } else if (encoding === 'DELTA_LENGTH_BYTE_ARRAY' && physical === 'BYTE_ARRAY') {
    readDeltaTexts(bytes, out as string[], from, count);
  } else if (encoding === 'BYTE_STREAM_SPLIT' && physical !== 'BOOLEAN' && physical !== 'BYTE_ARRAY') {
    const size = physical === 'FLOAT16' ? 2 : WIDTH[physical];
    if (bytes.length !== size * count) throw wrongSize(bytes.length, size * count);
    const joined = new Uint8Array(bytes.length);
    for (let part = 0; part < size; part++) {
      for (let index = 0; index < count; index++) joined[index * size + part] = bytes[part * count + index]!;
    }
    readPlain(physical, joined, out, from, count);
  } else {
    throw new BadInput(
      told(
        `the encoding ${encoding} of ${physical} values is not read; write the table with plain or dictionary pages`,
        `不读取 ${physical} 值的编码 ${encoding}；请用 plain 或字典页写表`,
      ),
    );
  }
}

function wrongSize(found: number, expected: number): BadInput {
  return new BadInput(
    told(
      `a page has ${found} bytes of values where ${expected} belong, so the file is damaged`,
      `有一页的值占 ${found} 字节，而应是 ${expected}，文件已损坏`,
    ),
  );
}

function readPlain(physical: Physical, bytes: Uint8Array, out: Store, from: number, count: number): void {
  if (physical === 'BYTE_ARRAY') {
    readTexts(bytes, out as string[], from, count);
    return;
  }
  if (physical === 'BOOLEAN') {
    if (bytes.length !== Math.ceil(count / 8)) throw wrongSize(bytes.length, Math.ceil(count / 8));
    unpack(bytes, 0, 1, out as Uint8Array, from, count);
    return;
  }
  if (physical === 'FLOAT16') {
    if (bytes.length !== 2 * count) throw wrongSize(bytes.length, 2 * count);
    const floats = out as Float32Array;
    for (let index = 0; index < count; index++)
      floats[from + index] = half(bytes[2 * index]! | (bytes[2 * index + 1]! << 8));
    return;
  }
  const size = WIDTH[physical];
  if (bytes.length !== size * count) throw wrongSize(bytes.length, size * count);
  const store = out as Exclude<Store, string[]>;
  // Pages begin at any byte, so the bytes are copied and not viewed; the order is that of every machine that runs JavaScript.
  new Uint8Array(store.buffer, store.byteOffset + from * size, bytes.length).set(bytes);
}

export function half(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = bits & 1023;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

let indices = new Int32Array(0);

function readIndexed(bytes: Uint8Array, dictionary: Store | undefined, out: Store, from: number, count: number): void {
  if (count === 0) return;
  if (dictionary === undefined)
    throw new BadInput(
      told(
        'a page refers to a dictionary that is not there, so the file is damaged',
        '有一页引用了不存在的字典，文件已损坏',
      ),
    );
  if (bytes.length === 0)
    throw new BadInput(
      told('a page of dictionary indices is empty, so the file is damaged', '字典序号的页是空的，文件已损坏'),
    );
  // One buffer serves all pages; it only grows, up to the largest page met.
  if (indices.length < count) indices = new Int32Array(count);
  const greatest = readRuns(bytes, 1, bytes.length, bytes[0]!, indices, 0, count);
  if (greatest >= dictionary.length) {
    throw new BadInput(
      told(
        `a page refers to entry ${greatest} of a dictionary of ${dictionary.length}, so the file is damaged`,
        `有一页引用第 ${greatest} 项，而字典只有 ${dictionary.length} 项，文件已损坏`,
      ),
    );
  }
  gather(dictionary, indices, out, from, count);
}

/** The casts only tell that both stores are of one type; each pair gets its own fast loop from the engine. */
function gather(dictionary: Store, places: Int32Array, out: Store, from: number, count: number): void {
  if (out instanceof Int32Array) {
    const entries = dictionary as Int32Array;
    for (let index = 0; index < count; index++) out[from + index] = entries[places[index]!]!;
  } else if (out instanceof Float32Array) {
    const entries = dictionary as Float32Array;
    for (let index = 0; index < count; index++) out[from + index] = entries[places[index]!]!;
  } else if (out instanceof Float64Array) {
    const entries = dictionary as Float64Array;
    for (let index = 0; index < count; index++) out[from + index] = entries[places[index]!]!;
  } else if (out instanceof BigInt64Array) {
    // Two halves each: this makes no bigint.
    const entries = dictionary as BigInt64Array;
    const source = new Int32Array(entries.buffer, entries.byteOffset, entries.length * 2);
    const target = new Int32Array(out.buffer, out.byteOffset, out.length * 2);
    for (let index = 0; index < count; index++) {
      const place = places[index]! * 2;
      target[(from + index) * 2] = source[place]!;
      target[(from + index) * 2 + 1] = source[place + 1]!;
    }
  } else if (Array.isArray(out)) {
    const entries = dictionary as string[];
    for (let index = 0; index < count; index++) out[from + index] = entries[places[index]!]!;
  } else {
    const entries = dictionary as Uint8Array;
    for (let index = 0; index < count; index++) out[from + index] = entries[places[index]!]!;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function text(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new BadInput(told('a text is not UTF-8, so the file is damaged', '有一个文本不是 UTF-8，文件已损坏'));
  }
}

function readTexts(bytes: Uint8Array, out: string[], from: number, count: number): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;
  for (let index = 0; index < count; index++) {
    const length = at + 4 <= bytes.length ? view.getUint32(at, true) : Number.POSITIVE_INFINITY;
    if (length > bytes.length - at - 4)
      throw new BadInput(told('a page ends within a text, so the file is damaged', '有一页在文本中间结束，文件已损坏'));
    out[from + index] = text(bytes.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  if (at !== bytes.length) throw wrongSize(bytes.length, at);
}

function readDeltaTexts(bytes: Uint8Array, out: string[], from: number, count: number): void {
  if (count > bytes.length * 32768) throw wrongSize(bytes.length, count);
  const lengths = new Int32Array(count);
  let at = readDeltas(bytes, 0, lengths, 0, count);
  for (let index = 0; index < count; index++) {
    const length = lengths[index]!;
    if (length < 0 || at + length > bytes.length)
      throw new BadInput(told('a page ends within a text, so the file is damaged', '有一页在文本中间结束，文件已损坏'));
    out[from + index] = text(bytes.subarray(at, at + length));
    at += length;
  }
}
