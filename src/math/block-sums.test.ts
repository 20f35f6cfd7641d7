import { describe, expect, it } from 'vitest';
import {
  addBlock,
  anyDifferenceTest,
  BlockCounter,
  emptySums,
  equivalenceTest,
  joinSums,
  trendTest,
  withinVariance,
} from './block-sums.ts';
import { chiSquareTail, normalQuantile, normalTail, studentQuantile, studentTail } from './distributions.ts';
import { RandomStream } from './random.ts';
import { meanInterval, meanTest, nearZeroTest } from './ranks/paired-tests.ts';
import {
  anyDifferencePower,
  detectableMean,
  detectableRange,
  equivalenceBlocks,
  evenTrend,
  pagePower,
  trendBlocks,
  trendPower,
} from './ranks/power.ts';
import { friedmanTest, pageTest } from './ranks/rank-tests.ts';

const columns = 4;
const draw = (stream: RandomStream, blocks: number, means: ArrayLike<number>) => {
  const counter = new BlockCounter(columns);
  for (let block = 0; block < blocks; block++) {
    const common = 3 * stream.normal();
    counter.add(Array.from(means, (mean) => common + mean + stream.normal()));
  }
  return counter.sums;
};
const level0 = new Float64Array(columns);

describe('distributions', () => {
  it("have R's and scipy's values, in the tails too", () => {
    expect(chiSquareTail(7.8, 3)).toBeCloseTo(0.050331097859853326, 12);
    expect(chiSquareTail(7.8, 3, 5)).toBeCloseTo(0.4416333272292672, 9);
    expect(normalTail(3.89)).toBeCloseTo(5.012211099618835e-5, 14);
    expect(normalQuantile(5e-5)).toBeCloseTo(3.8905918864131204, 10);
    expect(studentTail(2.5, 9)).toBeCloseTo(0.016930913841492867, 7);
    expect(studentQuantile(0.0005, 9)).toBeCloseTo(4.780912585931217, 7);
  });
});

describe('tests from sums', () => {
  it("are Page's and Friedman's tests when the sums are of ranks", () => {
    const stream = RandomStream.of(1, 'sums');
    const blocks = Array.from({ length: 61 }, () => Array.from({ length: 4 }, () => stream.below(3)));
    const counter = new BlockCounter(4);
    for (const block of blocks) counter.add(block);
    const page = pageTest(blocks);
    expect(trendTest(counter.sums.ranks).statistic).toBeCloseTo(-page.z, 10);
    expect(trendTest(counter.sums.ranks).p).toBeCloseTo(page.p, 12);
    expect(anyDifferenceTest(counter.sums.ranks).statistic).toBeCloseTo(friedmanTest(blocks).statistic, 10);
  });

  it('have the variance of permuting within blocks', () => {
    const stream = RandomStream.of(2, 'permute');
    const blocks = Array.from({ length: 12 }, () => Float64Array.from({ length: 4 }, () => stream.normal() ** 3));
    let squares = 0;
    const draws = 2000;
    for (let i = 0; i < draws; i++) {
      const sums = emptySums(4);
      for (const block of blocks) addBlock(sums, stream.shuffle(block));
      squares += trendTest(sums).statistic ** 2;
    }
    expect(squares / draws).toBeCloseTo(1, 1);
  });

  it('do not care how blocks are split among threads', () => {
    const stream = RandomStream.of(3, 'split');
    const parts = [1, 2, 3].map((count) => draw(stream, count * 10, level0).values);
    const joined = joinSums(parts);
    expect(joined.blocks).toBe(60);
    expect(withinVariance(joined)).toBeCloseTo(
      parts.reduce((sum, part) => sum + withinVariance(part) * part.blocks, 0) / 60,
      12,
    );
  });

  it('reject at their level where columns are equal, and with the stated power where they are not', () => {
    const plan = { size: columns, within: 1, level: 0.01 };
    const blocks = trendBlocks(plan, 0.3, 0.9);
    expect(trendPower(plan, 0.3, blocks)).toBeCloseTo(0.9, 2);
    expect(detectableRange(plan, blocks, 0.9)).toBeCloseTo(0.3, 2);
    const repeats = 400;
    const count = { trend: 0, any: 0, seen: 0, seenAny: 0 };
    const means = evenTrend(columns, 0.3);
    for (let i = 0; i < repeats; i++) {
      const equal = draw(RandomStream.of(i, 'equal'), blocks, level0).values;
      if (trendTest(equal).p <= 0.01) count.trend++;
      if (anyDifferenceTest(equal).p <= 0.01) count.any++;
      const biased = draw(RandomStream.of(i, 'biased'), blocks, means).values;
      if (trendTest(biased).p <= 0.01) count.seen++;
      if (anyDifferenceTest(biased).p <= 0.01) count.seenAny++;
    }
    const slack = (share: number) => 3 * Math.sqrt((share * (1 - share)) / repeats);
    expect(Math.abs(count.trend / repeats - 0.01)).toBeLessThan(slack(0.01));
    expect(Math.abs(count.any / repeats - 0.01)).toBeLessThan(slack(0.01));
    expect(Math.abs(count.seen / repeats - 0.9)).toBeLessThan(slack(0.9));
    const any = anyDifferencePower(plan, means, blocks);
    expect(Math.abs(count.seenAny / repeats - any)).toBeLessThan(slack(any));
  });

  it('claim equivalence with the stated power where columns are equal, and at most at the level where they lie on the margin', () => {
    const plan = { size: columns, within: 1, level: 0.05 };
    const margin = 0.25;
    const blocks = equivalenceBlocks(plan, margin, 0.9);
    const repeats = 300;
    let claimed = 0;
    let wrong = 0;
    for (let i = 0; i < repeats; i++) {
      if (equivalenceTest(draw(RandomStream.of(i, 'equal'), blocks, level0).values, margin, 0.05).equivalent) claimed++;
      // The first column lies exactly on the margin.
      const edge = [margin, -margin / 3, -margin / 3, -margin / 3];
      if (equivalenceTest(draw(RandomStream.of(i, 'edge'), blocks, edge).values, margin, 0.05).equivalent) wrong++;
    }
    expect(claimed / repeats).toBeGreaterThan(0.87);
    expect(wrong / repeats).toBeLessThan(0.05 + 3 * Math.sqrt((0.05 * 0.95) / repeats));
    const equal = draw(RandomStream.of(1, 'equal'), blocks, level0).values;
    const { narrowest } = equivalenceTest(equal, margin, 0.05);
    expect(equivalenceTest(equal, narrowest * 1.001, 0.05).equivalent).toBe(true);
    expect(equivalenceTest(equal, narrowest * 0.999, 0.05).equivalent).toBe(false);
  });
});

describe('tests of one number per seed', () => {
  const values = [0.1, -0.2, 0.15, 0.05, -0.1, 0.12, -0.03, 0.2];

  it("are scipy.stats.ttest_1samp's", () => {
    expect(meanTest(values).t).toBeCloseTo(0.7529837275029482, 12);
    expect(meanTest(values).p).toBeCloseTo(0.4760154668772953, 8);
    // The larger of the two one-sided p-values, against -0.3 and 0.3.
    expect(nearZeroTest(values, 0.3)).toBeCloseTo(0.0004636713229675384, 9);
    const { low, high, mean } = meanInterval(values);
    expect((low + high) / 2).toBeCloseTo(mean, 12);
    expect(meanTest(values.map((value) => value - low)).p).toBeCloseTo(0.05, 9);
  });

  it('handle values that do not vary', () => {
    expect(meanTest([0, 0, 0]).p).toBe(1);
    expect(meanTest([1, 1, 1]).p).toBe(0);
    expect(nearZeroTest([0, 0, 0], 0.1)).toBe(0);
  });

  it('see the stated mean about as often as stated', () => {
    const count = 10;
    const shift = detectableMean(count, 0.01, 0.9);
    let seen = 0;
    const repeats = 400;
    for (let i = 0; i < repeats; i++) {
      const stream = RandomStream.of(i, 'seeds');
      if (meanTest(Array.from({ length: count }, () => shift + stream.normal())).p <= 0.01) seen++;
    }
    expect(seen / repeats).toBeGreaterThan(0.87);
    expect(seen / repeats).toBeLessThan(0.96);
  });

  it("Page's power grows with the trend and starts at its level", () => {
    const plan = { size: 4, within: 1, level: 0.05 };
    const power = (range: number) => pagePower(plan, range, 6, RandomStream.of(1, 'power'), 300);
    expect(power(0)).toBeLessThan(0.09);
    expect(power(2)).toBeGreaterThan(0.8);
    expect(power(1)).toBeGreaterThan(power(0.5));
  });
});
