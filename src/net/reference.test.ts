import { describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { defaults, identity, randomRows } from './fixtures/golden-rows.ts';
import { orthogonal } from './parameters.ts';
import { ReferencePolicy } from './reference/policy.ts';
import type { PolicyShape, UpdateSettings } from './types.ts';

const mlp = (inputs: number, hidden: number[], outputs: number, activation: 'tanh' | 'relu' = 'tanh') => ({
  inputs,
  hidden,
  outputs,
  activation,
  outputGain: 1,
});
const shapes: Record<string, PolicyShape> = {
  'a fixed head': { head: 'fixed', features: 0, actor: mlp(4, [5, 3], 6), critic: mlp(3, [4], 1) },
  'a pointer head': { head: 'pointer', features: 3, actor: mlp(7, [5], 1), critic: mlp(4, [4, 3], 1, 'relu') },
};
const losses: Record<string, Partial<UpdateSettings>> = {
  'squared values': {},
  'Huber values': { valueLoss: 'huber', huberDelta: 0.4 },
  'clipped values': { valueClip: 0.15 },
  'clipped Huber values and a temperature': {
    valueLoss: 'huber',
    huberDelta: 0.4,
    valueClip: 0.15,
    temperature: 1.7,
    advantageScale: 2,
  },
};

describe('the gradient of the reference', () => {
  for (const [head, shape] of Object.entries(shapes)) {
    for (const [loss, some] of Object.entries(losses)) {
      it(`is that of the loss, by finite differences, with ${head} and ${loss}`, () => {
        const settings = { ...defaults, entropyCoefficient: 0.3, ...some };
        const policy = new ReferencePolicy(shape, RandomStream.of(3));
        const rows = randomRows(shape, 20, 5, RandomStream.of(8), true);
        const lossOf = () => policy.differentiate(rows, identity(20), 0, 20, settings).loss;
        lossOf();
        const gradients = policy.parameters.map((_, index) => policy.exactGradient(index).slice());
        const step = 1e-6;
        policy.parameters.forEach(({ name, size }, index) => {
          const values = policy.exact(index);
          for (let i = 0; i < size; i++) {
            const kept = values[i];
            values[i] = kept + step;
            const up = lossOf();
            values[i] = kept - step;
            const down = lossOf();
            values[i] = kept;
            expect(Math.abs((up - down) / (2 * step) - gradients[index][i]), `${name}[${i}]`).toBeLessThan(1e-8);
          }
        });
      });
    }
  }
});

describe('orthogonal initialisation', () => {
  it.each([
    [5, 12],
    [12, 5],
    [7, 7],
    [1, 4],
  ])('of %i x %i has orthogonal vectors of the given length on its shorter side', (rows, columns) => {
    const gain = 1.3;
    const matrix = orthogonal(rows, columns, gain, RandomStream.of(2));
    const count = Math.min(rows, columns);
    const at = (vector: number, i: number) =>
      rows <= columns ? matrix[vector * columns + i] : matrix[i * columns + vector];
    for (let a = 0; a < count; a++) {
      for (let b = 0; b <= a; b++) {
        let product = 0;
        for (let i = 0; i < Math.max(rows, columns); i++) product += at(a, i) * at(b, i);
        expect(product).toBeCloseTo(a === b ? gain * gain : 0, 12);
      }
    }
  });
});
