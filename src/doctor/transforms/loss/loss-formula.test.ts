import { expect, it } from 'vitest';
import { RandomStream } from '../../../math/random.ts';
import { type LossRow, lossForm, lossFormNames } from './loss-formula.ts';
import { given } from './loss-rows.ts';

const rowOf = (fresh: number, old: number, advantage: number): LossRow => ({
  log: fresh - old,
  ratio: Math.exp(fresh - old),
  advantage,
  probability: Math.exp(fresh),
  oldProbability: Math.exp(old),
});

it.each(lossFormNames)('the slope of %s is the derivative of its value by the log-probability', (name) => {
  const { value, slope } = lossForm(name);
  const random = RandomStream.of(11);
  const step = 1e-6;
  let told = 0;
  for (let i = 0; i < 200; i++) {
    const [old, advantage] = [-0.2 - 2 * random.uniform(), 4 * random.uniform() - 2];
    const fresh = old + 0.8 * random.uniform() - 0.4;
    const at = (x: number) => value(rowOf(x, old, advantage), 0.2);
    const [left, right] = [(at(fresh) - at(fresh - step)) / step, (at(fresh + step) - at(fresh)) / step];
    // At a corner there is none.
    if (Math.abs(left - right) > 1e-3) continue;
    told++;
    expect(slope(rowOf(fresh, old, advantage), 0.2)).toBeCloseTo((left + right) / 2, 3);
  }
  expect(told).toBeGreaterThan(150);
});

it('the mean over all pairs of a new log-probability with an old one is that of the whole table', () => {
  const random = RandomStream.of(5);
  const rows = Array.from({ length: 40 }, () => {
    const old = -0.2 - 2 * random.uniform();
    const row = rowOf(old + 0.6 * random.uniform() - 0.3, old, 4 * random.uniform() - 2);
    return { ...row, weight: 1, second: false };
  });
  const table = (beside: 'old' | 'new') => {
    let sum = 0;
    for (const one of rows)
      for (const other of rows) {
        const ratio = one.probability / other.oldProbability;
        const { advantage } = beside === 'old' ? other : one;
        sum += Math.min(ratio * advantage, Math.min(1.2, Math.max(0.8, ratio)) * advantage);
      }
    return -sum / rows.length ** 2;
  };
  const found = given('log-pairs', rows, 0.2);
  expect(found[0]).toBeCloseTo(table('old'), 12);
  expect(found[2]).toBeCloseTo(table('new'), 12);
});
