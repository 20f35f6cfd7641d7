import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GradientMemory, optimiserBound, slowSteps } from './optimiser-bound.ts';

/** One entry under each optimiser, by the formulas of its documentation, written down without looking at the bound. */
type Step = (gradient: number, t: number) => number;
const optimisers: Record<string, { about: Record<string, unknown>; make: (rate: number) => Step }> = {
  adam: {
    about: { name: 'adam', betas: [0.9, 0.999] },
    make: (rate) => {
      let [m, v] = [0, 0];
      return (g, t) => {
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        return (rate * (m / (1 - 0.9 ** t))) / (Math.sqrt(v / (1 - 0.999 ** t)) + 1e-8);
      };
    },
  },
  rmsprop: {
    about: { name: 'rmsprop', alpha: 0.99, momentum: 0 },
    make: (rate) => {
      let v = 0;
      return (g) => {
        v = 0.99 * v + 0.01 * g * g;
        return (rate * g) / (Math.sqrt(v) + 1e-8);
      };
    },
  },
  'rmsprop with momentum': {
    about: { name: 'rmsprop', alpha: 0.9, momentum: 0.8 },
    make: (rate) => {
      let [v, held] = [0, 0];
      return (g) => {
        v = 0.9 * v + 0.1 * g * g;
        held = 0.8 * held + g / (Math.sqrt(v) + 1e-8);
        return rate * held;
      };
    },
  },
  sgd: { about: { name: 'sgd', momentum: 0 }, make: (rate) => (g) => rate * g },
  momentum: {
    about: { name: 'sgd', momentum: 0.9 },
    make: (rate) => {
      let held = 0;
      return (g) => {
        held = 0.9 * held + g;
        return rate * held;
      };
    },
  },
  nesterov: {
    about: { name: 'sgd', momentum: 0.9, nesterov: true },
    make: (rate) => {
      let held = 0;
      return (g) => {
        held = 0.9 * held + g;
        return rate * (g + 0.9 * held);
      };
    },
  },
  adagrad: {
    about: { name: 'adagrad' },
    make: (rate) => {
      let v = 0;
      return (g) => {
        v += g * g;
        return (rate * g) / (Math.sqrt(v) + 1e-10);
      };
    },
  },
  adamax: {
    about: { name: 'adamax', betas: [0.9, 0.999] },
    make: (rate) => {
      let [m, u] = [0, 0];
      return (g, t) => {
        m = 0.9 * m + 0.1 * g;
        u = Math.max(0.999 * u, Math.abs(g) + 1e-8);
        return ((rate / (1 - 0.9 ** t)) * m) / u;
      };
    },
  },
  nadam: {
    about: { name: 'nadam', betas: [0.9, 0.999] },
    make: (rate) => {
      let [m, v, product] = [0, 0, 1];
      return (g, t) => {
        const mu = 0.9 * (1 - 0.5 * 0.96 ** (t * 0.004));
        const next = 0.9 * (1 - 0.5 * 0.96 ** ((t + 1) * 0.004));
        product *= mu;
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        const root = Math.sqrt(v / (1 - 0.999 ** t)) + 1e-8;
        return (rate * (1 - mu) * g) / (1 - product) / root + (rate * next * m) / (1 - product * next) / root;
      };
    },
  },
};

const gradients = fc.array(
  fc.tuple(fc.constantFrom(1e-6, 1e-3, 1, 1e3), fc.double({ min: -1, max: 1, noNaN: true })).map(([a, b]) => a * b),
  { minLength: 1, maxLength: 60 },
);

describe('the bound of an optimiser', () => {
  for (const [name, { about, make }] of Object.entries(optimisers))
    it(`holds for ${name}, whatever the gradients`, () => {
      const bound = optimiserBound((key) => about[key])!;
      fc.assert(
        fc.property(gradients, (list) => {
          const step = make(0.01);
          const memory = new GradientMemory();
          list.forEach((g, i) => {
            const gradient = Math.abs(g);
            const facts = { rate: 0.01, size: 1, gradient, ...memory.step(0, gradient, bound.momentum) };
            expect(Math.abs(step(g, i + 1))).toBeLessThanOrEqual(bound.length(facts) * (1 + 1e-9) + 1e-15);
          });
        }),
      );
    });

  it('is near for RMSprop: three times what Adam may do is no sign of another hand', () => {
    const bound = optimiserBound((key) => ({ name: 'rmsprop', alpha: 0.99 })[key]);
    const facts = { rate: 1, size: 1, gradient: 1, longest: 1, gathered: 1 };
    expect(bound!.length(facts)).toBeCloseTo(10, 9);
  });

  it('is not known for other optimisers, nor where momentum or alpha was not declared', () => {
    for (const about of [{}, { name: 'lion' }, { name: 'sgd' }, { name: 'rmsprop' }, { name: 'toString' }])
      expect(optimiserBound((key) => (about as Record<string, unknown>)[key])).toBeNull();
  });

  it('knows nothing of a memory that the recording missed, until it has faded', () => {
    const memory = new GradientMemory();
    memory.step(0, 1, 0.5);
    expect(memory.step(10, 1, 0.5).gathered).toBeNaN();
    for (let i = 0; i < 5; i++) memory.step(10, 1, 0.5);
    expect(memory.step(10, 1, 0.5).gathered).toBeCloseTo(2, 1);
  });
});

it('knows how long the memory of TensorFlow’s RMSprop hides the size of a step', () => {
  const about = (settings: Record<string, unknown>) => slowSteps((name) => settings[name]);
  expect(about({ name: 'rmsprop', alpha: 0.99 })).toBe(0);
  const steps = about({ name: 'RMSpropTFLike', alpha: 0.99 });
  // A memory that began at 1 and sees gradients of 1e-3 alone: by then half of it or more is theirs.
  let memory = 1;
  for (let step = 0; step < steps; step++) memory = 0.99 * memory + 0.01 * 1e-6;
  expect(memory).toBeLessThan(2.1e-6);
});
