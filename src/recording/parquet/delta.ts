/** DELTA_BINARY_PACKED integers: a first value and bit-packed differences in blocks. Sums wrap around at the width of the type, as the format demands. */

import { BadInput } from '../bad-input.ts';

class Bits {
  readonly bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes;
    this.at = at;
  }

  byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new BadInput('a page of differences ends too early, so the file is damaged');
    return byte;
  }

  varint(): bigint {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return BigInt.asUintN(64, value);
    }
    throw new BadInput('a page of differences holds an impossible number, so the file is damaged');
  }

  zigzag(): bigint {
    const value = this.varint();
    return (value >> 1n) ^ -(value & 1n);
  }
}

/** Writes `count` values to out[from ..) and returns the position after them. */
export function readDeltas(
  bytes: Uint8Array,
  start: number,
  out: Int32Array | BigInt64Array,
  from: number,
  count: number,
): number {
  const bits = new Bits(bytes, start);
  const blockSize = Number(bits.varint());
  const miniblocks = Number(bits.varint());
  const total = Number(bits.varint());
  let value = bits.zigzag();
  const perMiniblock = blockSize / miniblocks;
  if (
    total !== count ||
    !(miniblocks > 0) ||
    !Number.isInteger(perMiniblock) ||
    perMiniblock % 8 !== 0 ||
    blockSize > 2 ** 20
  ) {
    throw new BadInput(
      `a page of differences has ${total} values in blocks of ${blockSize} where ${count} belong, so the file is damaged`,
    );
  }
  const wide = out instanceof BigInt64Array;
  const put = (index: number) => {
    if (wide) out[from + index] = value;
    else out[from + index] = Number(BigInt.asIntN(32, value));
  };
  if (count > 0) put(0);
  let index = 1;
  while (index < count) {
    const least = bits.zigzag();
    const widths = bytes.subarray(bits.at, bits.at + miniblocks);
    if (widths.length < miniblocks) bits.byte();
    bits.at += miniblocks;
    for (let mini = 0; mini < miniblocks && index < count; mini++) {
      const width = widths[mini]!;
      const size = (perMiniblock * width) / 8;
      const needed = Math.ceil((Math.min(perMiniblock, count - index) * width) / 8);
      if (width > 64 || bits.at + needed > bytes.length) {
        throw new BadInput('a page of differences ends too early, so the file is damaged');
      }
      const stop = Math.min(count, index + perMiniblock);
      for (let bit = bits.at * 8; index < stop; index++, bit += width) {
        value = BigInt.asIntN(64, value + least + difference(bytes, bit, width));
        put(index);
      }
      bits.at = Math.min(bits.at + size, bytes.length);
    }
  }
  return bits.at;
}

function difference(bytes: Uint8Array, bit: number, width: number): bigint {
  let low = 0;
  let high = 0;
  let got = 0;
  while (got < width) {
    const place = bit + got;
    const offset = place % 8;
    const take = Math.min(8 - offset, width - got);
    const part = (bytes[Math.floor(place / 8)]! >>> offset) & ((1 << take) - 1);
    if (got < 32) low += part * 2 ** got;
    else high += part * 2 ** (got - 32);
    got += take;
  }
  return BigInt(low) + BigInt(high) * 4294967296n;
}
