import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../random.ts';
import { fewestBlocks, friedmanTest, pageTest, smallestFriedman, smallestPage } from './rank-tests.ts';
import { midRanks, permutations } from './ranks.ts';

/** Hollander and Wolfe (1973), p. 140: 22 players round first base in three ways. */
const rounding = [
  [5.4, 5.5, 5.55],
  [5.85, 5.7, 5.75],
  [5.2, 5.6, 5.5],
  [5.55, 5.5, 5.4],
  [5.9, 5.85, 5.7],
  [5.45, 5.55, 5.6],
  [5.4, 5.4, 5.35],
  [5.45, 5.5, 5.35],
  [5.25, 5.15, 5.0],
  [5.85, 5.8, 5.7],
  [5.25, 5.2, 5.1],
  [5.65, 5.55, 5.45],
  [5.6, 5.35, 5.45],
  [5.05, 5.0, 4.95],
  [5.5, 5.5, 5.4],
  [5.45, 5.55, 5.5],
  [5.55, 5.55, 5.35],
  [5.45, 5.5, 5.55],
  [5.5, 5.45, 5.25],
  [5.65, 5.6, 5.4],
  [5.7, 5.65, 5.55],
  [6.3, 6.3, 6.25],
];

/** Page (1963): the least L that is significant at 5 %, 1 % and 0.1 %, by blocks, for 3 and 4 treatments. */
const critical = [
  { size: 3, blocks: 4, values: [54, 55, 56] },
  { size: 3, blocks: 5, values: [66, 68, 70] },
  { size: 3, blocks: 10, values: [128, 131, 134] },
  { size: 4, blocks: 3, values: [84, 87, 89] },
  { size: 4, blocks: 4, values: [111, 114, 117] },
  { size: 4, blocks: 5, values: [137, 141, 145] },
  { size: 4, blocks: 10, values: [266, 272, 278] },
];

/** Blocks without ties whose L is as wanted. */
function blocksWith(size: number, count: number, wanted: number): (readonly number[])[] {
  const byScore = new Map<number, readonly number[]>();
  for (const order of permutations(size))
    byScore.set(
      order.reduce((sum, rank, i) => sum + (i + 1) * (rank + 1), 0),
      order,
    );
  const scores = [...byScore.keys()].sort((a, b) => b - a);
  const fill = (left: number, total: number): (readonly number[])[] | null => {
    if (left === 0) return total === 0 ? [] : null;
    if (total > left * scores[0] || total < left * scores[scores.length - 1]) return null;
    for (const score of scores) {
      const rest = fill(left - 1, total - score);
      if (rest) return [byScore.get(score)!, ...rest];
    }
    return null;
  };
  const found = fill(count, wanted);
  if (!found) throw new Error(`no ${count} blocks of ${size} have L = ${wanted}`);
  return found;
}

describe("Page's test", () => {
  it.each(critical)(
    'has the published critical values for $size treatments and $blocks blocks',
    ({ size, blocks, values }) => {
      const levels = [0.05, 0.01, 0.001];
      values.forEach((least, i) => {
        const at = pageTest(blocksWith(size, blocks, least));
        expect(at.statistic).toBe(least);
        expect(at.method).toBe('exact');
        expect(at.oneSided).toBeLessThanOrEqual(levels[i]);
        expect(pageTest(blocksWith(size, blocks, least - 1)).oneSided).toBeGreaterThan(levels[i]);
      });
    },
  );

  it('agrees with scipy.stats.page_trend_test to the last digits', () => {
    const blocks = [
      [1, 2, 3, 4],
      [2, 1, 3, 4],
      [1, 3, 2, 4],
      [1, 2, 4, 3],
      [4, 1, 2, 3],
    ];
    const { statistic, oneSided } = pageTest(blocks);
    expect(statistic).toBe(141);
    expect(oneSided).toBeCloseTo(0.006471987123842592, 12);
  });

  it('takes ties as they are: the exact distribution of the shared ranks', () => {
    // Two blocks (1, 1, 2) with ranks 1.5, 1.5, 3: L is at most 2 * 13.5, reached by 1 of 3 arrangements in each.
    const { statistic, oneSided, p } = pageTest([
      [1, 1, 2],
      [5, 5, 9],
    ]);
    expect(statistic).toBe(27);
    expect(oneSided).toBeCloseTo(1 / 9, 12);
    expect(p).toBeCloseTo(2 / 9, 12);
    expect(
      pageTest([
        [1, 1, 1],
        [2, 2, 2],
      ]).p,
    ).toBe(1);
  });

  it('gives the same against a trend and its reverse, and passes into the normal approximation', () => {
    const stream = RandomStream.of(1, 'page');
    const blocks = Array.from({ length: 60 }, () => [0.3, 0.1, 0, -0.2].map((mean) => mean + stream.normal()));
    const exact = pageTest(blocks);
    expect(pageTest(blocks.map((block) => [...block].reverse())).p).toBeCloseTo(exact.p, 10);
    const normal = pageTest([...blocks, ...blocks]);
    expect(exact.method).toBe('exact');
    expect(normal.method).toBe('normal');
    // Twice the same blocks: z grows by the root of two.
    expect(normal.z).toBeCloseTo(exact.z * Math.SQRT2, 10);
    expect(Math.abs(Math.log(exact.p) - Math.log(2 * (1 - phi(Math.abs(exact.z)))))).toBeLessThan(0.15);
  });
});

const phi = (z: number) => {
  // Abramowitz and Stegun 26.2.17, good to 7.5e-8: independent of the library that the test uses.
  const t = 1 / (1 + 0.2316419 * z);
  const series = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return 1 - (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * series;
};

describe("Friedman's test", () => {
  it("has the published statistic of Hollander and Wolfe's example, ties included", () => {
    // R: friedman.test(RoundingTimes), chi-squared = 11.143, df = 2, p = 0.003805
    const { statistic, w } = friedmanTest(rounding);
    expect(statistic).toBeCloseTo(11.142857142857, 9);
    expect(w).toBeCloseTo(11.142857142857 / 44, 9);
  });

  it('has the published exact probabilities', () => {
    // Friedman (1937), Owen (1962): 3 treatments and 4 blocks, 4 treatments and 3 blocks.
    const alike = (size: number, blocks: number) =>
      Array.from({ length: blocks }, () => Array.from({ length: size }, (_, i) => i));
    expect(friedmanTest(alike(3, 4))).toMatchObject({ statistic: 8, w: 1, method: 'exact' });
    expect(friedmanTest(alike(3, 4)).p).toBeCloseTo(0.0046, 4);
    expect(friedmanTest(alike(4, 3)).statistic).toBe(9);
    expect(friedmanTest(alike(4, 3)).p).toBeCloseTo(0.0017, 4);
    const mixed = [
      [1, 2, 3],
      [1, 2, 3],
      [1, 2, 3],
      [1, 3, 2],
    ];
    expect(friedmanTest(mixed).statistic).toBeCloseTo(6.5, 10);
    expect(friedmanTest(mixed).p).toBeCloseTo(0.042, 3);
  });

  it('agrees with scipy.stats.friedmanchisquare in its statistic, and with drawn permutations in p', () => {
    const blocks = [
      [1, 2, 3, 4],
      [2, 1, 3, 4],
      [1, 3, 2, 4],
      [1, 2, 4, 3],
      [4, 1, 2, 3],
    ];
    const { statistic, p } = friedmanTest(blocks);
    expect(statistic).toBeCloseTo(6.84, 10);
    const wide = blocks.map((block) => [...block, 0, 0, 0, 0]);
    const drawn = friedmanTest(wide, RandomStream.of(1, 'friedman'), 2000);
    expect(drawn.method).toBe('permutations drawn');
    expect(p).toBeGreaterThan(0.05);
    expect(p).toBeLessThan(0.09);
  });

  it('does not depend on the order of columns or blocks, nor on the size of values', () => {
    const block = fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(block, { minLength: 2, maxLength: 5 }), (blocks) => {
        const { p, statistic } = friedmanTest(blocks);
        const moved = friedmanTest(blocks.map(([a, b, c, d]) => [d, b, a, c].map((x) => x ** 3 - 7)).reverse());
        expect(moved.statistic).toBeCloseTo(statistic, 9);
        expect(moved.p).toBeCloseTo(p, 9);
      }),
      { seed: 1, numRuns: 50 },
    );
  });
});

describe('both', () => {
  it('say how few blocks can reach a level', () => {
    expect(smallestFriedman(3, 4)).toBeCloseTo(0.0017, 4);
    expect(smallestPage(3, 4)).toBeCloseTo(2 / 24 ** 3, 12);
    expect(fewestBlocks(4, 0.001)).toBe(4);
    expect(fewestBlocks(2, 0.001)).toBe(11);
  });

  it('reject as often as their level says where nothing is there, and far more often where something is', () => {
    const repeats = 500;
    const count = { page: 0, friedman: 0, seenPage: 0, seenFriedman: 0 };
    for (let i = 0; i < repeats; i++) {
      const stream = RandomStream.of(i, 'level');
      const blocks = Array.from({ length: 6 }, () => Array.from({ length: 3 }, () => stream.normal()));
      if (pageTest(blocks).p <= 0.05) count.page++;
      if (friedmanTest(blocks).p <= 0.05) count.friedman++;
      const biased = blocks.map(([a, b, c]) => [a + 1, b, c - 1]);
      if (pageTest(biased).p <= 0.05) count.seenPage++;
      if (friedmanTest(biased).p <= 0.05) count.seenFriedman++;
    }
    // Exact tests of a discrete statistic stay below their level.
    for (const found of [count.page, count.friedman]) {
      expect(found / repeats).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / repeats));
      expect(found / repeats).toBeGreaterThan(0.02);
    }
    expect(count.seenPage / repeats).toBeGreaterThan(0.5);
    expect(count.seenFriedman / repeats).toBeGreaterThan(0.4);
  });

  it('share ranks among ties', () => {
    expect([...midRanks([3, 1, 3, 2])]).toEqual([3.5, 1, 3.5, 2]);
  });
});
