import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { Categorical } from './categorical.ts';

const logits = Float64Array.of(0.3, -1.2, 2, 0.7);
const legal = Uint8Array.of(1, 1, 0, 1);

describe('a choice among candidates', () => {
  it('is the softmax of the legal logits, each divided by the temperature', () => {
    const choice = new Categorical();
    choice.look(logits, legal, 2);
    const weights = [0, 1, 3].map((i) => Math.exp(logits[i] / 2));
    const sum = weights.reduce((a, b) => a + b);
    const logs = weights.map((weight) => Math.log(weight / sum));
    const every = Int32Array.of(0, 1, 3, 2, 4, -1);
    expect([0, 1, 2].map((row) => choice.logp(every, row))).toEqual(logs.map((log) => expect.closeTo(log, 12)));
    expect([3, 4, 5].map((row) => choice.logp(every, row))).toEqual([-Infinity, -Infinity, -Infinity]);
    expect(choice.entropy).toBeCloseTo(-logs.reduce((total, log) => total + Math.exp(log) * log, 0), 12);
  });

  it('is sampled as often as its probabilities say', () => {
    const choice = new Categorical();
    choice.look(logits, legal, 1);
    const stream = RandomStream.of(5, 'categorical');
    const draws = Float64Array.from({ length: 20_000 }, () => stream.uniform());
    const actions = new choice.array(draws.length);
    const counts = [0, 0, 0, 0];
    for (let row = 0; row < draws.length; row++) {
      choice.sample(draws, row, actions, row);
      counts[actions[row]]++;
    }
    const expected = [0, 1, 2, 3].map((action) => Math.exp(choice.logp(Int32Array.of(action), 0)));
    counts.forEach((count, action) => {
      // Four standard errors.
      expect(Math.abs(count / draws.length - expected[action])).toBeLessThan(4 * Math.sqrt(0.25 / draws.length));
    });
    expect(counts[2]).toBe(0);
  });

  it('has the gradient that finite differences give', () => {
    const choice = new Categorical();
    const action = Int32Array.of(3);
    const temperature = 0.7;
    const [byLogp, byEntropy] = [-1.3, 0.4];
    const objective = (at: Float64Array) => {
      choice.look(at, legal, temperature);
      return byLogp * choice.logp(action, 0) + byEntropy * choice.entropy;
    };
    objective(logits);
    const gradient = new Float64Array(4);
    choice.gradient(action, 0, byLogp, byEntropy, gradient);
    logits.forEach((_, i) => {
      const moved = (by: number) => objective(logits.map((logit, j) => (i === j ? logit + by : logit)));
      expect(gradient[i]).toBeCloseTo((moved(1e-6) - moved(-1e-6)) / 2e-6, 8);
    });
    expect(gradient[2]).toBe(0);
  });
});
