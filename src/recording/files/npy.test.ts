import { describe, expect, it } from 'vitest';
import { join } from '../source.ts';
import { codec, crc32 } from './codec.ts';
import { decodeNpy, encodeNpy } from './npy.ts';

function npy(descr: string, shape: string, data: Uint8Array, fortran = 'False', version = 1): Uint8Array<ArrayBuffer> {
  const text = `{'descr': '${descr}', 'fortran_order': ${fortran}, 'shape': ${shape}, }`;
  const length = text.length;
  const head = version === 1 ? [length & 255, length >> 8] : [length & 255, length >> 8, 0, 0];
  return join([Uint8Array.of(0x93, 78, 85, 77, 80, 89, version, 0, ...head), new TextEncoder().encode(text), data]);
}

describe('a numpy array', () => {
  it('is read in Fortran order and at any position in memory', () => {
    const data = new Uint8Array(Float64Array.of(1, 2, 3, 4, 5, 6).buffer);
    const array = decodeNpy(npy('<f8', '(2, 3)', data, 'True'), 'x');
    expect(array).toEqual({ kind: 'float', shape: [2, 3], values: Float64Array.of(1, 3, 5, 2, 4, 6) });
    expect(decodeNpy(npy('<f8', '(2, 3)', data, 'False', 2), 'x').values).toEqual(Float64Array.of(1, 2, 3, 4, 5, 6));
  });

  it('of half-precision floats is exact, subnormal and special ones included', () => {
    const bits = Uint16Array.of(0x3c00, 0xc000, 0x7bff, 0x0001, 0x03ff, 0x0400, 0x7c00, 0xfc00, 0x8000, 0x7e00);
    const { values } = decodeNpy(npy('<f2', '(10,)', new Uint8Array(bits.buffer)), 'x');
    const expected = [1, -2, 65504, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, Infinity, -Infinity, -0, Number.NaN];
    expect(Array.from(values as Float32Array)).toEqual(expected);
  });

  it('of 64-bit integers is narrowed only as far as it stays exact', () => {
    const read = (values: bigint[], descr: string) => {
      const wide = descr === '<i8' ? BigInt64Array.from(values) : BigUint64Array.from(values);
      return decodeNpy(npy(descr, `(${values.length},)`, new Uint8Array(wide.buffer)), 'x').values;
    };
    expect(read([-1n, 2n ** 31n - 1n, -(2n ** 31n)], '<i8')).toEqual(Int32Array.of(-1, 2 ** 31 - 1, -(2 ** 31)));
    expect(read([-1n, 2n ** 31n], '<i8')).toEqual(Float64Array.of(-1, 2 ** 31));
    expect(read([0n, 2n ** 31n], '<u8')).toEqual(Float64Array.of(0, 2 ** 31));
    expect(read([5n, 2n ** 63n], '<u8')).toEqual(BigUint64Array.of(5n, 2n ** 63n));
    expect(read([-(2n ** 53n)], '<i8')).toEqual(BigInt64Array.of(-(2n ** 53n)));
  });

  it('is written with a header whose data begins at a multiple of 64 bytes', () => {
    const [header, data] = encodeNpy(Float32Array.of(1, 2));
    expect(header.length % 64).toBe(0);
    expect(decodeNpy(join([header, data]), 'x')).toEqual({ kind: 'float', shape: [2], values: Float32Array.of(1, 2) });
  });

  it.each([
    [npy('|O', '(1,)', new Uint8Array(8)), /holds Python objects/],
    [npy('<c8', '(1,)', new Uint8Array(8)), /has the dtype c8/],
    [npy('<f4', '(3,)', new Uint8Array(8)), /holds 8 bytes where its shape \(3\) needs 12/],
    [npy('>i4', '(2,)', new Uint8Array(8)), /is big-endian \(>i4\)/],
    [npy('<U1', '(1,)', new Uint8Array([255, 255, 255, 255])), /a character that does not exist/],
    [new Uint8Array(4), /is not a numpy array/],
  ])('that cannot be used is refused with a sentence (%#)', (bytes, sentence) => {
    expect(() => decodeNpy(bytes, 'x.npy')).toThrow(sentence);
  });
});

describe('the checksum', () => {
  it('is CRC-32, in one go or in pieces, in the portable codec and in the one in use', () => {
    const bytes = new TextEncoder().encode('123456789');
    expect(crc32(bytes)).toBe(0xcbf43926);
    const long = Uint8Array.from({ length: 1000 }, (_, i) => (i * 7919) >> 3);
    for (const split of [0, 1, 15, 16, 17, 999, 1000]) {
      expect(crc32(long.subarray(split), crc32(long.subarray(0, split)))).toBe(codec().crc32(long));
    }
  });
});
