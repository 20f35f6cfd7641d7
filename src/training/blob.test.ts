import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fromBytes, toBytes } from './blob.ts';

it('gives plain data with typed arrays back bit for bit', () => {
  const data = fc.record({
    text: fc.string({ unit: 'grapheme' }),
    number: fc.double({ noNaN: true, noDefaultInfinity: true }).filter((value) => !Object.is(value, -0)),
    list: fc.array(fc.record({ floats: fc.float32Array(), bytes: fc.uint8Array() })),
    doubles: fc.float64Array(),
    ints: fc.int32Array(),
    nothing: fc.constant(null),
  });
  fc.assert(
    fc.property(data, (value) => {
      expect(fromBytes(toBytes(value))).toEqual(value);
    }),
  );
});

it("reads Node's buffers, wherever they lie in memory", () => {
  const value = { floats: Float32Array.from([1.5, -2.25]), doubles: Float64Array.from([Math.PI]) };
  const bytes = toBytes(value);
  const pool = Buffer.alloc(bytes.length + 24);
  pool.set(bytes, 13);
  expect(fromBytes(pool.subarray(13, 13 + bytes.length))).toEqual(value);
});

it('says what is wrong with bytes that are no checkpoint', () => {
  expect(() => fromBytes(new Uint8Array(100))).toThrow(/does not begin with "trueline\/checkpoint\/2"/);
  expect(() => fromBytes(toBytes({ a: new Float64Array(100) }).subarray(0, 60))).toThrow(/cut off/);
});

it('refuses bytes in which any one bit is another', () => {
  const bytes = toBytes({ text: 'a', floats: Float32Array.from([1.5, -2.25]) });
  for (let bit = 0; bit < 8 * bytes.length; bit++) {
    const flipped = Uint8Array.from(bytes);
    flipped[bit >> 3] ^= 1 << (bit & 7);
    expect(() => fromBytes(flipped)).toThrow(/the checkpoint/);
  }
});
