/** Snappy compression into one typed array. Matches are sought within blocks of 64 KiB, so every copy fits a two-byte offset. */

const BLOCK = 65536;
const TABLE_BITS = 13;
const table = new Uint16Array(1 << TABLE_BITS);

export function compressSnappy(input: Uint8Array): Uint8Array {
  const out = new Uint8Array(32 + input.length + Math.ceil(input.length / 6));
  let at = 0;
  let rest = input.length;
  while (rest >= 128) {
    out[at++] = (rest & 127) | 128;
    rest = Math.floor(rest / 128);
  }
  out[at++] = rest;
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  for (let start = 0; start < input.length; start += BLOCK) {
    at = compressBlock(input, view, start, Math.min(input.length, start + BLOCK), out, at);
  }
  return out.subarray(0, at);
}

function compressBlock(
  input: Uint8Array,
  view: DataView,
  start: number,
  end: number,
  out: Uint8Array,
  at: number,
): number {
  let literal = start;
  const last = end - 15;
  if (last > start) {
    table.fill(0);
    let position = start + 1;
    // The longer nothing matches, the larger the steps: incompressible data cost little.
    let misses = 32;
    while (position < last) {
      const word = view.getInt32(position, true);
      const slot = Math.imul(word, 0x1e35a7bd) >>> (32 - TABLE_BITS);
      const candidate = start + table[slot]!;
      table[slot] = position - start;
      if (candidate >= position || view.getInt32(candidate, true) !== word) {
        position += misses++ >>> 5;
        continue;
      }
      misses = 32;
      at = putLiteral(input, literal, position, out, at);
      const offset = position - candidate;
      let length = 4;
      while (position + length < end && input[candidate + length] === input[position + length]) length++;
      at = putCopy(offset, length, out, at);
      position += length;
      literal = position;
      if (position < last) {
        table[Math.imul(view.getInt32(position - 1, true), 0x1e35a7bd) >>> (32 - TABLE_BITS)] = position - 1 - start;
      }
    }
  }
  return putLiteral(input, literal, end, out, at);
}

function putLiteral(input: Uint8Array, from: number, to: number, out: Uint8Array, at: number): number {
  const length = to - from;
  if (length === 0) return at;
  if (length <= 60) {
    out[at++] = (length - 1) << 2;
  } else if (length <= 256) {
    out[at++] = 60 << 2;
    out[at++] = length - 1;
  } else {
    out[at++] = 61 << 2;
    out[at++] = (length - 1) & 255;
    out[at++] = (length - 1) >> 8;
  }
  if (length < 24) for (let byte = 0; byte < length; byte++) out[at + byte] = input[from + byte]!;
  else out.set(input.subarray(from, to), at);
  return at + length;
}

function putCopy(offset: number, length: number, out: Uint8Array, at: number): number {
  while (length >= 68) {
    at = putTwoByteCopy(offset, 64, out, at);
    length -= 64;
  }
  if (length > 64) {
    at = putTwoByteCopy(offset, 60, out, at);
    length -= 60;
  }
  if (length > 11 || offset >= 2048) return putTwoByteCopy(offset, length, out, at);
  out[at] = 1 | ((length - 4) << 2) | ((offset >> 8) << 5);
  out[at + 1] = offset & 255;
  return at + 2;
}

function putTwoByteCopy(offset: number, length: number, out: Uint8Array, at: number): number {
  out[at] = 2 | ((length - 1) << 2);
  out[at + 1] = offset & 255;
  out[at + 2] = offset >> 8;
  return at + 3;
}
