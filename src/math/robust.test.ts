import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from './random.ts';
import {
  bootstrapInterval,
  interquartileInterval,
  interquartileMean,
  probabilityOfImprovement,
  superiority,
} from './robust.ts';
import { mean } from './statistics.ts';

describe('interquartileMean', () => {
  it('is the 25 % trimmed mean as scipy.stats.trim_mean(x, 0.25) gives it', () => {
    expect(interquartileMean([10, 1, 2, 3, 4, 5, 6, 7, 8, 9])).toBeCloseTo(5.5, 12);
    expect(interquartileMean([1, 2, 3, 100])).toBeCloseTo(2.5, 12);
    expect(interquartileMean([1, 2, 30])).toBeCloseTo(11, 12);
    // numpy.random.default_rng(0).normal(size=9).round(3)
    expect(interquartileMean([0.126, -0.132, 0.64, 0.105, -0.536, 0.362, 1.304, 0.947, -0.704])).toBeCloseTo(
      (-0.132 + 0.105 + 0.126 + 0.362 + 0.64) / 5,
      12,
    );
    expect(interquartileMean([])).toBeNaN();
  });

  it('moves and stretches with its values, and does not depend on their order', () => {
    const values = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(values, fc.integer({ min: -9, max: 9 }), fc.integer({ min: 1, max: 9 }), (list, shift, scale) => {
        const before = interquartileMean(list);
        expect(interquartileMean(list.map((x) => x * scale + shift).reverse())).toBeCloseTo(before * scale + shift, 6);
      }),
      { seed: 4, numRuns: 200 },
    );
  });
});

describe('the bootstrap', () => {
  it("has the normal theory's interval for the mean of many values", () => {
    const stream = RandomStream.of(1, 'data');
    const data = Array.from({ length: 400 }, () => stream.normal());
    const { low, high, estimate } = bootstrapInterval([data], ([sample]) => mean(sample), {
      stream: RandomStream.of(2, 'bootstrap'),
    });
    const half = (1.96 * Math.sqrt(data.reduce((sum, x) => sum + (x - estimate) ** 2, 0) / 400)) / 20;
    expect(low).toBeCloseTo(estimate - half, 1);
    expect(Math.abs(low - (estimate - half))).toBeLessThan(0.015);
    expect(Math.abs(high - (estimate + half))).toBeLessThan(0.015);
  });

  it('covers the truth about as often as it says', () => {
    let covered = 0;
    const repetitions = 200;
    for (let i = 0; i < repetitions; i++) {
      const stream = RandomStream.of(i, 'data');
      const tasks = [0, 10].map((middle) => Array.from({ length: 15 }, () => middle + stream.normal()));
      const { low, high } = interquartileInterval(tasks, { stream: RandomStream.of(i, 'draws'), repeats: 200 });
      // Two tasks far apart: the middle half holds the upper half of one and the lower half of the other.
      if (low <= 5 && 5 <= high) covered++;
    }
    expect(covered / repetitions).toBeGreaterThan(0.88);
    expect(covered / repetitions).toBeLessThan(0.99);
  });

  it('draws runs within their own task only', () => {
    const { low, high } = interquartileInterval(
      [
        [0, 0, 0],
        [9, 9, 9],
      ],
      { stream: RandomStream.of(1, 'draws') },
    );
    expect([low, high]).toEqual([4.5, 4.5]);
  });
});

describe('probabilityOfImprovement', () => {
  it('is the Mann-Whitney statistic over the number of pairs, averaged over tasks', () => {
    // scipy.stats.mannwhitneyu([1, 4, 6], [2, 3, 5]).statistic = 5
    expect(superiority([1, 4, 6], [2, 3, 5])).toBeCloseTo(5 / 9, 12);
    expect(superiority([1, 1], [1, 1])).toBe(0.5);
    const { estimate } = probabilityOfImprovement([[1, 4, 6], [2]], [[2, 3, 5], [1]], {
      stream: RandomStream.of(1, 'draws'),
    });
    expect(estimate).toBeCloseTo((5 / 9 + 1) / 2, 12);
  });
});
