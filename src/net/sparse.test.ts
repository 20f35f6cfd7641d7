import { afterAll, describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import { defaults, identity, randomRows, rowOutputs } from './fixtures/golden-rows.ts';
import { ReferenceEngine } from './reference/engine.ts';
import type { Engine, MlpShape, PolicyShape, Rows } from './types.ts';

const engines: Engine[] = [];
afterAll(() => {
  for (const engine of engines) engine.dispose();
});
async function engineOf(kernel: 'relaxed' | 'simd', threads: 1 | 2): Promise<Engine> {
  const engine = await createEngine({ engine: 'wasm', kernel, threads });
  engines.push(engine);
  return engine;
}

const net = (inputs: number, hidden: number[], outputs: number): MlpShape => ({
  inputs,
  hidden,
  outputs,
  activation: 'tanh',
  outputGain: 0.7,
});
const shapes: PolicyShape[] = [
  [33, [64, 64], [64, 64]],
  [131, [37, 20], [8]],
  [128, [], [100, 4]],
].map(([inputs, actor, critic]) => ({
  head: 'fixed',
  features: 0,
  actor: net(inputs as number, actor as number[], 9),
  critic: net(inputs as number, critic as number[], 1),
}));

/** About one input in ten is there. Every eighth row has weight 0 and, where `dense`, is full, which makes its whole block go the dense way. */
function gridRows(shape: PolicyShape, count: number, dense: boolean): Rows {
  const { inputs } = shape.actor;
  const rows = randomRows(shape, count, 9, RandomStream.of(4, 'rows'), true);
  const stream = RandomStream.of(5, 'there');
  const { weight } = rows;
  if (!weight) throw new Error('these rows have weights');
  for (let row = 0; row < count; row++) {
    for (let i = 0; i < inputs; i++) {
      const at = row * inputs + i;
      const there = stream.uniform() < 0.1;
      if (row % 8 === 0 ? !dense : !there) rows.obs[at] = 0;
      else if (i % 2 === 0) rows.obs[at] = 1;
    }
    if (row % 8 === 0) weight[row] = 0;
  }
  rows.state = rows.obs;
  return rows;
}

describe('inputs that are mostly zero', () => {
  for (const kernel of ['relaxed', 'simd'] as const)
    it(`give the bits of the dense way: figures and steps (${kernel})`, async () => {
      for (const threads of [1, 2] as const) {
        const engine = await engineOf(kernel, threads);
        for (const shape of shapes) {
          const [listed, dense] = [false, true].map((full) => {
            const rows = gridRows(shape, 301, full);
            const policy = engine.policy(shape, RandomStream.of(6));
            const out = rowOutputs(rows);
            policy.evaluate(rows, identity(301), 0, 301, out);
            for (let step = 0; step < 3; step++)
              engine.update([{ policy, rows, order: identity(301), from: 0, to: 301, settings: defaults }]);
            const parameters = policy.parameters.map((_, index) => Array.from(policy.read(index)));
            return { logp: Array.from(out.logp), value: Array.from(out.value), parameters };
          });
          const counted = (figures: number[]) => figures.filter((_, row) => row % 8 !== 0);
          expect(counted(listed.logp)).toEqual(counted(dense.logp));
          expect(counted(listed.value)).toEqual(counted(dense.value));
          expect(listed.parameters).toEqual(dense.parameters);
        }
      }
    });

  it('agree with the reference', async () => {
    const engine = await engineOf('relaxed', 1);
    for (const shape of shapes) {
      const rows = gridRows(shape, 203, false);
      const order = RandomStream.of(7).shuffle(identity(203));
      const policy = engine.policy(shape, RandomStream.of(6));
      const reference = new ReferenceEngine().policy(shape, RandomStream.of(6));
      const [report] = engine.update([{ policy, rows, order, from: 0, to: 203, settings: defaults }]);
      const expected = reference.update(rows, order, 0, 203, defaults, rowOutputs(rows), true);
      expect(report.loss).toBeCloseTo(expected.loss, 5);
      expect(report.gradNorm).toBeCloseTo(expected.gradNorm, 4);
      policy.parameters.forEach((_, index) => {
        const [got, wanted] = [policy.gradient(index), reference.gradient(index)];
        for (let i = 0; i < got.length; i++)
          expect(Math.abs(got[i] - wanted[i])).toBeLessThan(2e-5 * expected.gradNorm);
      });
    }
  });
});
