import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Pyramid, thin } from './pyramid.ts';

const values = fc.array(
  fc.oneof({ weight: 9, arbitrary: fc.double({ noNaN: true, min: -1e6, max: 1e6 }) }, fc.constant(Number.NaN)),
  {
    minLength: 1,
    maxLength: 700,
  },
);

const curve = (y: number[]) => new Pyramid(Float64Array.from(y.keys()), Float64Array.from(y));

describe('a pyramid', () => {
  it('gives the least and greatest of any range, as looking at every point does', () => {
    fc.assert(
      fc.property(values, fc.nat(800), fc.nat(800), (y, a, b) => {
        const [start, end] = [Math.min(a, b, y.length), Math.min(Math.max(a, b), y.length)];
        const [low, high] = curve(y).range(start, end);
        const seen = y.slice(start, end).filter((value) => !Number.isNaN(value));
        expect(low).toBe(seen.length > 0 ? Math.min(...seen) : Number.POSITIVE_INFINITY);
        expect(high).toBe(seen.length > 0 ? Math.max(...seen) : Number.NEGATIVE_INFINITY);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it('keeps every spike in view however few columns there are', () => {
    const y = new Float64Array(1_000_000);
    y[123_457] = 9;
    y[900_001] = -7;
    const pyramid = new Pyramid(Float64Array.from(y.keys()), y);
    const drawn = thin([pyramid], 0, 999_999, 300);
    expect(drawn.x.length).toBe(600);
    expect(drawn.exact).toBe(false);
    expect(Math.max(...drawn.ys[0])).toBe(9);
    expect(Math.min(...drawn.ys[0])).toBe(-7);
    // The spike is drawn in the column that it belongs to.
    const at = drawn.ys[0].indexOf(9);
    expect(Math.floor(at / 2)).toBe(Math.floor(123_457 / (999_999 / 300)));
  });

  it('gives few points as they are, on the places of all curves together', () => {
    const a = new Pyramid(Float64Array.of(0, 2, 4), Float64Array.of(1, 2, 3));
    const b = new Pyramid(Float64Array.of(1, 2), Float64Array.of(5, 6));
    const drawn = thin([a, b], 0, 4, 100);
    expect([...drawn.x]).toEqual([0, 1, 2, 4]);
    expect([...drawn.ys[0]]).toEqual([1, Number.NaN, 2, 3]);
    expect([...drawn.ys[1]]).toEqual([Number.NaN, 5, 6, Number.NaN]);
  });
});
