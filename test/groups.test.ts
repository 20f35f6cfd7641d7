import { describe, expect, it } from 'vitest';
import { groupsDiffer } from '../bench/games/groups.ts';

describe('the test for differences between seats', () => {
  it('gives the exact chance of a permutation test', () => {
    // Of the 20 ways to split six runs in two threes, two are as uneven as this.
    const apart = [
      [1, 2, 3],
      [10, 11, 12],
    ];
    expect(groupsDiffer([apart], 20_000, 1)).toBeCloseTo(0.1, 2);
  });

  it('finds nothing where runs differ as much as seats', () => {
    const alike = [
      [1, 4, 2],
      [3, 1, 4],
      [2, 4, 1],
    ];
    expect(groupsDiffer([alike, alike], 2000, 1)).toBeGreaterThan(0.5);
  });

  it('adds up the evidence of several conditions, each within itself', () => {
    const apart = [
      [1, 2, 3],
      [10, 11, 12],
    ];
    const scaled = apart.map((group) => group.map((value) => 100 + value / 10));
    expect(groupsDiffer([apart, scaled], 20_000, 1)).toBeCloseTo(0.01, 2);
  });
});
