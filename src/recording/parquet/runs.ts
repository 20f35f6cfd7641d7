/** Parquet's mixed runs: a repeated value, or groups of eight bit-packed ones. They carry levels, dictionary indices and booleans; only the last group may be padded. */

import { told } from '../../language/language.ts';
import { BadInput } from '../bad-input.ts';

export type Indices = Uint8Array | Int32Array;

function damaged(what: string): BadInput {
  return new BadInput(told(`${what}, so the file is damaged`, `${what}，文件已损坏`));
}

/** The one value of a page whose first run covers all, or -1: levels are nearly always so, and then need no expanding. */
export function constantRun(bytes: Uint8Array, start: number, end: number, width: number, count: number): number {
  if (width === 0 || count === 0) return 0;
  const header = runHeader(bytes, start, end);
  if ((header.value & 1) === 1 || header.value >>> 1 !== count) return -1;
  return runValue(bytes, header.next, end, width);
}

function runHeader(bytes: Uint8Array, at: number, end: number): { value: number; next: number } {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    if (at >= end) throw damaged(told('a page ends before its runs do', '有一页在其游程之前结束'));
    const byte = bytes[at++]!;
    value += (byte & 127) * 2 ** shift;
    if (byte < 128) return { value: value >>> 0, next: at };
  }
  throw damaged(told('a run has an impossible length', '有一个游程的长度不可能'));
}

function runValue(bytes: Uint8Array, at: number, end: number, width: number): number {
  const size = (width + 7) >> 3;
  if (at + size > end) throw damaged(told('a page ends before its runs do', '有一页在其游程之前结束'));
  let value = 0;
  for (let byte = size - 1; byte >= 0; byte--) value = value * 256 + bytes[at + byte]!;
  return value;
}

/** Fills out[from .. from + count) and returns the greatest value met. */
export function readRuns(
  bytes: Uint8Array,
  start: number,
  end: number,
  width: number,
  out: Indices,
  from: number,
  count: number,
): number {
  const stop = from + count;
  if (width === 0) {
    out.fill(0, from, stop);
    return 0;
  }
  if (width > 31) throw damaged(told(`a page has runs of ${width} bits`, `有一页的游程宽 ${width} 位`));
  let greatest = 0;
  let at = start;
  while (from < stop) {
    // The header is read inline, because lists of one length make a run for every row.
    let header = bytes[at]!;
    if (header < 128 && at < end) at++;
    else ({ value: header, next: at } = runHeader(bytes, at, end));
    if ((header & 1) === 0) {
      const length = header >>> 1;
      if (length === 0 || length > stop - from)
        throw damaged(
          told(
            `a run of ${length} values stands where ${stop - from} remain`,
            `有一个 ${length} 个值的游程，而只剩 ${stop - from} 个`,
          ),
        );
      const value = width <= 8 && at < end ? bytes[at]! : runValue(bytes, at, end, width);
      at += (width + 7) >> 3;
      if (value > greatest) greatest = value;
      if (length < 32) for (const to = from + length; from < to; from++) out[from] = value;
      else {
        out.fill(value, from, from + length);
        from += length;
      }
    } else {
      const groups = header >>> 1;
      const size = groups * width;
      const length = Math.min(groups * 8, stop - from);
      // Some writers leave out the padding of the last group.
      const needed = Math.ceil((length * width) / 8);
      if (groups === 0 || at + needed > end) {
        throw damaged(
          told(
            `a run of ${groups} groups of eight does not fit into its page`,
            `${groups} 组八个一组的游程放不进它的页`,
          ),
        );
      }
      const most = unpack(bytes, at, width, out, from, length);
      if (most > greatest) greatest = most;
      at += Math.min(size, end - at);
      from += length;
    }
  }
  return greatest;
}

/** Bit-packed values, least significant bit first; returns the greatest. */
export function unpack(
  bytes: Uint8Array,
  at: number,
  width: number,
  out: Indices,
  from: number,
  count: number,
): number {
  if (width === 1) return unpackBits(bytes, at, out, from, count);
  if (width === 8) {
    let greatest = 0;
    for (let index = 0; index < count; index++) {
      const value = bytes[at + index]!;
      if (value > greatest) greatest = value;
      out[from + index] = value;
    }
    return greatest;
  }
  let greatest = 0;
  const mask = width === 32 ? -1 : 2 ** width - 1;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // One unaligned load holds a whole value of up to 25 bits; the last ones, too near the end for a load, go byte by byte.
  const loads = width <= 25 ? Math.max(0, Math.min(count, Math.floor(((bytes.length - at - 4) * 8) / width))) : 0;
  let bit = at * 8;
  let index = 0;
  // Bit positions stay below 2^31 in pages below 256 MiB; larger ones take the slow way.
  if (bytes.length < 2 ** 28) {
    for (; index < loads; index++) {
      const value = (view.getUint32(bit >>> 3, true) >>> (bit & 7)) & mask;
      if (value > greatest) greatest = value;
      out[from + index] = value;
      bit += width;
    }
  }
  for (; index < count; index++) {
    let value = 0;
    for (let part = 0; part < width; part++) {
      const place = bit + part;
      if ((bytes[Math.floor(place / 8)]! >>> (place % 8)) & 1) value += 2 ** part;
    }
    if (value > greatest) greatest = value;
    out[from + index] = value;
    bit += width;
  }
  return greatest;
}

/** Booleans and one-bit levels. */
function unpackBits(bytes: Uint8Array, at: number, out: Indices, from: number, count: number): number {
  const whole = count >> 3;
  let any = 0;
  for (let group = 0; group < whole; group++) {
    const byte = bytes[at + group]!;
    any |= byte;
    out[from] = byte & 1;
    out[from + 1] = (byte >> 1) & 1;
    out[from + 2] = (byte >> 2) & 1;
    out[from + 3] = (byte >> 3) & 1;
    out[from + 4] = (byte >> 4) & 1;
    out[from + 5] = (byte >> 5) & 1;
    out[from + 6] = (byte >> 6) & 1;
    out[from + 7] = byte >> 7;
    from += 8;
  }
  for (let bit = 0; bit < (count & 7); bit++) {
    const value = (bytes[at + whole]! >> bit) & 1;
    any |= value;
    out[from + bit] = value;
  }
  return any === 0 ? 0 : 1;
}
