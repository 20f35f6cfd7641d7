import { describe, expect, it } from 'vitest';
import { correlationZ, mean, median, Pairs, quantile, spread } from './statistics.ts';

describe('statistics', () => {
  it('gives the mean and the population spread of 2 4 4 4 5 5 7 9 as 5 and 2', () => {
    expect(spread([2, 4, 4, 4, 5, 5, 7, 9])).toEqual({ count: 8, mean: 5, std: 2 });
  });

  it('leaves out what is not known', () => {
    expect(mean([1, Number.NaN, 3])).toBe(2);
    expect(median([Number.NaN, 5, 1, 3])).toBe(3);
    expect(spread([Number.NaN]).mean).toBeNaN();
  });

  it('interpolates quantiles between neighbours', () => {
    expect(quantile([10, 20, 30, 40], 0.25)).toBeCloseTo(17.5);
  });

  it("gives Anscombe's first set its published correlation and line", () => {
    const x = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
    const y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
    const pairs = new Pairs();
    x.forEach((value, i) => {
      pairs.add(value, y[i]);
    });
    expect(pairs.correlation).toBeCloseTo(0.816, 3);
    expect(pairs.slope).toBeCloseTo(0.5, 2);
    expect(pairs.intercept).toBeCloseTo(3, 2);
  });

  it('counts a correlation of 0.5 in 28 pairs as 2.75 standard errors', () => {
    expect(correlationZ(0.5, 28)).toBeCloseTo(2.7465, 3);
  });
});
