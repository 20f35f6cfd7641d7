import { describe, expect, it } from 'vitest';
import { bandOf, difference } from './bands.ts';
import { smooth } from './smooth.ts';

const line = (x: number[], y: number[]) => ({ x: Float64Array.from(x), y: Float64Array.from(y) });

describe('a band over seeds', () => {
  it('is mean, least and greatest at the places of the longest curve, others read between their points', () => {
    const band = bandOf([line([0, 1, 2], [1, 2, 3]), line([0, 2], [3, 7])]);
    expect([...band.mean]).toEqual([2, 3.5, 5]);
    expect([...band.least]).toEqual([1, 2, 3]);
    expect([...band.greatest]).toEqual([3, 5, 7]);
    expect([...band.count]).toEqual([2, 2, 2]);
  });

  it('counts a curve nowhere beyond its ends', () => {
    const band = bandOf([line([0, 1, 2, 3], [1, 1, 1, 1]), line([1, 2], [3, 3])]);
    expect([...band.count]).toEqual([1, 2, 2, 1]);
    expect([...band.mean]).toEqual([1, 2, 2, 1]);
  });

  it('the difference of two curves is NaN where one of them is not', () => {
    const { y } = difference(line([0, 1, 2], [5, 5, 5]), line([1, 2], [1, 2]));
    expect([...y]).toEqual([Number.NaN, 4, 3]);
  });
});

describe('smoothing', () => {
  it('keeps a constant curve, and starts at the first value', () => {
    expect([...smooth(Float64Array.of(4, 4, 4), 0.9)].map((value) => value.toFixed(12))).toEqual(
      Array(3).fill((4).toFixed(12)),
    );
    expect(smooth(Float64Array.of(2, 0), 0.5)[0]).toBe(2);
    expect(smooth(Float64Array.of(2, 0), 0.5)[1]).toBeCloseTo(2 / 3, 12);
  });

  it('leaves gaps as they are and forgets them', () => {
    const out = smooth(Float64Array.of(1, Number.NaN, 1), 0.5);
    expect(out[1]).toBeNaN();
    expect(out[2]).toBeCloseTo(1, 12);
  });
});
