import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normaliseAdvantages } from './update.ts';
import { ValueNormaliser } from './value-normaliser.ts';

const numbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 2, maxLength: 50 });

describe('advantages', () => {
  it('get mean 0 and spread 1 for each agent by itself', () => {
    fc.assert(
      fc.property(numbers, numbers, (first, second) => {
        const values = [...first.map((value) => value / 7), ...second.map((value) => 100 + value)];
        const agents = [...first.map(() => 0), ...second.map(() => 1)];
        const order = values.map((_, i) => i);
        const out = new Float32Array(values.length);
        normaliseAdvantages(values, agents, order, 0, values.length, null, out);
        for (const agent of [0, 1]) {
          const own = Array.from(out).filter((_, i) => agents[i] === agent);
          const given = values.filter((_, i) => agents[i] === agent);
          const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
          const spread = Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length);
          expect(Math.abs(mean)).toBeLessThan(1e-4);
          if (new Set(given).size > 1) expect(spread).toBeCloseTo(1, 3);
          else expect(spread).toBeLessThan(1e-3);
        }
      }),
    );
  });

  it('are clamped after they are normalised', () => {
    const out = new Float32Array(5);
    normaliseAdvantages([0, 0, 0, 0, 100], [0, 0, 0, 0, 0], [0, 1, 2, 3, 4], 0, 5, 1.5, out);
    expect(out[4]).toBe(1.5);
    expect(out[0]).toBeCloseTo(-0.5, 5);
  });
});

describe('value normalisation', () => {
  it('is undone exactly enough: to the critic and back gives the value again', () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: -50, max: 50, noNaN: true }), (returns, value) => {
        const normaliser = new ValueNormaliser(true);
        normaliser.learn(returns, returns.length);
        const out = new Float32Array(1);
        normaliser.toCritic([value], 1, out);
        normaliser.toRewards(out, 1);
        expect(Math.abs(out[0] - value)).toBeLessThan(1e-4 * (1 + Math.abs(value) + Math.abs(normaliser.mean)));
      }),
    );
  });

  it('starts with the mean and spread of the first batch and follows later ones', () => {
    const normaliser = new ValueNormaliser(true);
    normaliser.learn([2, 4], 2);
    expect([normaliser.mean, normaliser.spread]).toEqual([3, 1]);
    for (let i = 0; i < 200; i++) normaliser.learn([10, 14], 2);
    expect(normaliser.mean).toBeCloseTo(12, 2);
    expect(normaliser.spread).toBeCloseTo(2, 1);
  });

  it('learns the same from returns in either units', () => {
    const plain = new ValueNormaliser(true);
    const turned = new ValueNormaliser(true);
    plain.learn([2, 4], 2);
    turned.learn([2, 4], 2);
    const critic = new Float32Array(3);
    turned.toCritic([5, -1, 8], 3, critic);
    plain.learn([5, -1, 8], 3);
    turned.learnFromCritic(critic, 3);
    expect(turned.mean).toBeCloseTo(plain.mean, 5);
    expect(turned.spread).toBeCloseTo(plain.spread, 5);
  });

  it('keeps a spread of 1 while returns do not vary', () => {
    const normaliser = new ValueNormaliser(true);
    normaliser.learn([3, 3, 3], 3);
    expect([normaliser.mean, normaliser.spread]).toEqual([3, 1]);
  });

  it('leaves values alone where it is off, and is not spoilt by a batch that is not finite', () => {
    const off = new ValueNormaliser(false);
    off.learn([2, 4], 2);
    const out = new Float32Array(1);
    off.toCritic([7], 1, out);
    expect(out[0]).toBe(7);
    const on = new ValueNormaliser(true);
    on.learn([2, 4], 2);
    on.learn([Number.NaN, 4], 2);
    expect(on.mean).toBe(3);
  });
});
