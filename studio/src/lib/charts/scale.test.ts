import { describe, expect, it } from 'vitest';
import type { Curve } from '../../../../src/report/studio/curves.ts';
import { parseRange, powerText, rangeText, tickTexts, translate } from './scale.ts';

describe('ticks', () => {
  it('are told apart, however close they are and however large', () => {
    for (const [from, step] of [
      [0, 2500],
      [0.981, 0.0005],
      [120_000, 500],
      [3e6, 2.5e5],
      [0, 2e-5],
      [-0.2, 0.1],
      [1.7e-6, 1e-8],
    ]) {
      const ticks = Array.from({ length: 6 }, (_, i) => Number((from + i * step).toPrecision(12)));
      const texts = tickTexts(ticks, step);
      expect(new Set(texts).size, texts.join(' ')).toBe(6);
      expect(Math.max(...texts.map((text) => text.length)), texts.join(' ')).toBeLessThan(9);
    }
  });

  it('of orders of magnitude are powers of ten alone', () => {
    expect([0.001, 0.002, 1, 10, 1e6].map(powerText)).toEqual(['0.001', '', '1', '10', '1e+6']);
  });
});

describe('a range', () => {
  it('is the same moments on every axis', () => {
    const length = 101;
    const curve: Curve = {
      key: 'a',
      name: 'a',
      owner: '',
      kind: 'reading',
      iteration: Float64Array.from({ length }, (_, i) => i),
      step: Float64Array.from({ length }, (_, i) => 64 * i),
      time: Float64Array.from({ length }, (_, i) => 1e9 + 3 * i),
      value: new Float64Array(length),
    };
    expect(translate([curve], 'iteration', 'step', 12.5)).toBeCloseTo(800);
    expect(translate([curve], 'step', 'elapsed', 800)).toBeCloseTo(37.5);
    expect(translate([curve], 'elapsed', 'iteration', 37.5)).toBeCloseTo(12.5);
  });

  it('is read back from the address, and nonsense is none', () => {
    expect(parseRange(rangeText([10.25, 20]))).toEqual([10.25, 20]);
    for (const text of ['', '3', '4~1', 'a~b', '1~2~3']) expect(parseRange(text)).toBeUndefined();
  });
});
