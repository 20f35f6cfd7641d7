import { describe, expect, it } from 'vitest';
import { Rows } from '../evidence/rows.ts';
import { type Form, givenBy, logpOf, type Row, usual } from './density.ts';
import { fitted, formsFor, type Scoring } from './forms.ts';
import { BetaLaw, ChoicesLaw, GaussianLaw } from './laws.ts';

const row = (action: number[], mean: number[], logStd: number[], given: number[] | null = null): Row => ({
  action: Float64Array.from(action),
  given: given && Float64Array.from(given),
  law: new GaussianLaw(Float64Array.from(mean), Float64Array.from(logStd)),
});

describe('the log-probability of a continuous action', () => {
  it('is the sum of the dimensions', () => {
    // The standard normal density at 0 and at 1: 0.3989423 and 0.2419707.
    const [logp] = logpOf(usual, row([0, 1], [0, 0], [0, 0]), null);
    expect(logp).toBeCloseTo(Math.log(0.3989423 * 0.2419707), 6);
  });

  it("has tanh's derivative taken off where the action is squashed, also far out", () => {
    const whole: Form = { ...usual, squash: 1 };
    for (const u of [-8, -1, 0, 0.5, 3, 12]) {
      const [plain] = logpOf(usual, row([u], [u], [0]), null);
      const [squashed] = logpOf(whole, row([u], [u], [0]), null);
      // 1 - tanh² = 1 / cosh².
      expect(plain - squashed).toBeCloseTo(-2 * Math.log(Math.cosh(u)), 8);
    }
  });

  it('integrates to 1 after squashing', () => {
    let total = 0;
    const step = 1e-3;
    for (let y = -1 + step / 2; y < 1; y += step)
      total += step * Math.exp(logpOf({ ...usual, squash: 1 }, row([Math.atanh(y)], [0.3], [-0.5]), null)[0]);
    expect(total).toBeCloseTo(1, 3);
  });
});

describe('other distributions', () => {
  it('a beta distribution follows from its mean and deviation', () => {
    // Beta(2, 3): density 12 x (1 - x)², mean 0.4, variance 0.04.
    const law = new BetaLaw(Float64Array.of(0.4), Float64Array.of(Math.log(0.2)));
    expect(law.logp(0, 0.3)).toBeCloseTo(Math.log(12 * 0.3 * 0.7 ** 2), 10);
    // Beta(1, 1) is uniform.
    expect(new BetaLaw(Float64Array.of(0.5), Float64Array.of(Math.log(1 / 12) / 2)).entropy(0)).toBeCloseTo(0, 10);
  });

  it('several categoricals have their logits one after the other, and a mask over all', () => {
    const law = new ChoicesLaw(Float64Array.of(0, 0, 1, 2, 3), Float64Array.of(2, 3), (i) => i !== 4);
    const [logp] = logpOf(usual, { action: Float64Array.of(1, 1), given: null, law }, null);
    expect(logp).toBeCloseTo(-Math.LN2 - Math.log(1 + Math.exp(-1)), 10);
    expect(law.entropy(0)).toBeCloseTo(Math.LN2, 10);
    expect(law.logp(1, 3)).toBeNaN();
  });
});

describe('the KL between two distributions', () => {
  const mean = (width: number, from: number, to: number, of: (x: number) => number) => {
    let total = 0;
    for (let x = from + width / 2; x < to; x += width) total += width * of(x);
    return total;
  };

  it('is the mean of what their log-densities differ by', () => {
    const [a, b] = [
      [0.3, -0.5],
      [-0.2, 0.1],
    ].map(([middle, logStd]) => new GaussianLaw(Float64Array.of(middle), Float64Array.of(logStd)));
    const gaussian = mean(
      1e-3,
      -12,
      12,
      (x) => Math.exp(a.logp(0, x, 'own')) * (a.logp(0, x, 'own') - b.logp(0, x, 'own')),
    );
    expect(a.divergence(0, b)).toBeCloseTo(gaussian, 6);
    const [c, d] = [
      [0.4, 0.2],
      [0.6, 0.15],
    ].map(([middle, spread]) => new BetaLaw(Float64Array.of(middle), Float64Array.of(Math.log(spread))));
    const beta = mean(1e-4, 0, 1, (x) => Math.exp(c.logp(0, x)) * (c.logp(0, x) - d.logp(0, x)));
    expect(c.divergence(0, d)).toBeCloseTo(beta, 5);
    const [e, f] = [
      [0, 1, 2, -1, 3],
      [1, 0, 1, 1, 1],
    ].map((logits) => new ChoicesLaw(Float64Array.from(logits), Float64Array.of(2, 3)));
    const choices = [2, 3, 4].reduce((sum, i) => sum + Math.exp(e.logps[i]) * (e.logps[i] - f.logps[i]), 0);
    expect(e.divergence(1, f)).toBeCloseTo(choices, 12);
  });
});

describe('what the environment was given', () => {
  const samples = (raw: number[], given: number[]) => {
    const offsets = Int32Array.from({ length: raw.length + 1 }, (_, i) => i);
    const column = (values: number[]) => ({
      kind: 'float' as const,
      rows: raw.length,
      values: Float64Array.from(values),
      offsets,
    });
    const columns = new Map([
      ['action_values', column(raw)],
      ['env_action', column(given)],
    ]);
    return new Rows('samples', { rows: raw.length, columns });
  };
  const raw = Array.from({ length: 40 }, (_, i) => Math.sin(7 * i) * 2);
  const all = raw.map((_, i) => i);

  it.each([
    ['same', (x: number) => x, 1],
    ['clipped', (x: number) => Math.max(-1, Math.min(1, x)), 1],
    ['squashed', (x: number) => 3 * Math.tanh(x) + 1, 3],
    ['scaled', (x: number) => 2 * x - 1, 2],
  ])('is told: %s', (how, map, times) => {
    const found = givenBy(samples(raw, raw.map(map)), all);
    expect(found?.how).toBe(how);
    expect(found?.times[0]).toBeCloseTo(times, 6);
  });

  it('is another action where no rule holds, as one that is clipped and then scaled', () => {
    for (const map of [(x: number) => x * x, (x: number) => 3 * Math.max(-1, Math.min(1, x))])
      expect(givenBy(samples(raw, raw.map(map)), all)?.how).toBe('changed');
  });
});

describe('the formula of a pass', () => {
  const rows = (form: Form): Scoring[] =>
    Array.from({ length: 60 }, (_, i) => {
      const sampled = row([Math.sin(i), Math.cos(3 * i)], [0.1, -0.2], [-0.7, -0.3]);
      const [old] = logpOf(form, sampled, null);
      return { iteration: 0, agent: 0, sampled, updated: sampled, old, fresh: old, differs: false };
    });

  it.each([
    usual,
    { ...usual, reduce: 'mean' as const },
    { ...usual, reduce: 'last' as const },
    { ...usual, deviation: 'variance' as const },
    { ...usual, deviation: 'exponential' as const, reduce: 'first' as const },
  ])('is found: $reduce, $deviation', (form) => {
    expect(fitted(formsFor(2, null), rows(form), 'old', null)).toEqual(form);
  });

  it('is not found where a tenth of the rows are something else', () => {
    const found = rows(usual).map((one, i) => (i % 10 === 0 ? { ...one, old: one.old + 0.5 } : one));
    expect(fitted(formsFor(2, null), found, 'old', null)).toBeNull();
  });

  it('of one dimension is never called a mean', () => {
    expect(formsFor(1, null).every(({ reduce }) => reduce === 'sum')).toBe(true);
  });
});
