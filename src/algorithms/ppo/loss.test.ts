import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Categorical } from '../../distributions/categorical/categorical.ts';
import { RandomStream } from '../../math/random.ts';
import { createEngine } from '../../net/engine.ts';
import { defaults, distance, identity, randomRows, rowOutputs } from '../../net/fixtures/golden-rows.ts';
import type { Engine, PolicyShape, UpdateSettings } from '../../net/types.ts';
import { type LossRow, ppoLoss } from './loss.ts';

const row: LossRow = { newLogp: -1, oldLogp: -1, advantage: 2, entropy: 0.5, value: 1, oldValue: 1, return: 3 };
const settings: UpdateSettings = { ...defaults, clip: 0.2, valueCoefficient: 0.5, entropyCoefficient: 0.01 };

describe('the loss of PPO', () => {
  it('is minus ratio times advantage within the clip', () => {
    const loss = ppoLoss({ ...row, newLogp: -1 + Math.log(1.1) }, settings);
    expect(loss.policy).toBeCloseTo(-2.2, 12);
    expect(loss.byLogp).toBeCloseTo(-2.2, 12);
  });

  it.each([
    { ratio: 1.5, advantage: 2, policy: -2.4, held: true },
    { ratio: 1.5, advantage: -2, policy: 3, held: false },
    { ratio: 0.5, advantage: 2, policy: -1, held: false },
    { ratio: 0.5, advantage: -2, policy: 1.6, held: true },
  ])('takes the smaller objective: ratio $ratio, advantage $advantage', ({ ratio, advantage, policy, held }) => {
    const loss = ppoLoss({ ...row, advantage, newLogp: -1 + Math.log(ratio) }, settings);
    expect(loss.policy).toBeCloseTo(policy, 12);
    expect(loss.byLogp).toBeCloseTo(held ? 0 : policy, 12);
  });

  it('judges values by their square, by Huber, or by the larger loss of the clipped value', () => {
    expect(ppoLoss(row, settings)).toMatchObject({ value: 4, byValue: -2 });
    expect(ppoLoss(row, { ...settings, valueLoss: 'huber', huberDelta: 1 })).toMatchObject({
      value: 1.5,
      byValue: -0.5,
    });
    const moved = { ...row, value: 2 };
    const clipped = { ...settings, valueClip: 0.5 };
    expect(ppoLoss(moved, clipped)).toMatchObject({ value: 2.25, byValue: 0 });
    expect(ppoLoss({ ...moved, return: 0 }, clipped)).toMatchObject({ value: 4, byValue: 2 });
  });
});

describe.each(['simd', 'relaxed'] as const)('the %s kernels', (kernel) => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await createEngine({ engine: 'wasm', kernel, threads: 2 });
  });
  afterAll(() => engine.dispose());

  // Without hidden layers the gradient of a head's bias is the sum of the gradients of the logits themselves.
  const linear = (inputs: number, outputs: number) =>
    ({ inputs, hidden: [], outputs, activation: 'tanh', outputGain: 1 }) as const;
  const shape: PolicyShape = { head: 'fixed', features: 0, actor: linear(5, 7), critic: linear(4, 1) };

  it.each([
    { ...settings, clip: 0.1 },
    { ...settings, valueLoss: 'huber' as const, huberDelta: 0.6, entropyCoefficient: 0.2 },
    { ...settings, valueClip: 0.2, temperature: 1.6, advantageScale: 2 },
  ])('follow it to 1e-5, loss and gradient: %o', (some) => {
    const policy = engine.policy(shape, RandomStream.of(4, 'loss'));
    const rows = randomRows(shape, 300, 6, RandomStream.of(9, 'loss'), true);
    const order = identity(rows.length);
    const out = rowOutputs(rows);
    policy.evaluate(rows, order, 0, rows.length, out, some.temperature);
    const distribution = new Categorical();
    const total = rows.weight!.reduce((sum, weight) => sum + weight, 0);
    const wanted = { policyLoss: 0, valueLoss: 0, entropy: 0, loss: 0 };
    const byHead = new Float64Array(shape.actor.outputs);
    let byCritic = 0;
    for (let i = 0; i < rows.length; i++) {
      const [from, to] = [rows.offsets[i], rows.offsets[i + 1]];
      distribution.look(
        Float64Array.from(out.logits.subarray(from, to)),
        rows.legal.subarray(from, to),
        some.temperature,
      );
      const { entropy } = distribution;
      const loss = ppoLoss(
        {
          newLogp: distribution.logp(rows.action, i),
          oldLogp: rows.oldLogp[i],
          advantage: rows.advantage[i] * some.advantageScale,
          entropy,
          value: out.value[i],
          oldValue: rows.oldValue[i],
          return: rows.return[i],
        },
        some,
      );
      const share = rows.weight![i] / total;
      wanted.policyLoss += share * loss.policy;
      wanted.valueLoss += share * loss.value;
      wanted.entropy += share * entropy;
      const byLogit = new Float64Array(to - from);
      distribution.gradient(rows.action, i, share * loss.byLogp, share * loss.byEntropy, byLogit);
      byLogit.forEach((gradient, c) => {
        byHead[rows.subset[from + c]] += gradient;
      });
      byCritic += share * loss.byValue;
    }
    wanted.loss =
      wanted.policyLoss + some.valueCoefficient * wanted.valueLoss - some.entropyCoefficient * wanted.entropy;
    const [report] = engine.update([{ policy, rows, order, from: 0, to: rows.length, settings: some }]);
    for (const name of ['policyLoss', 'valueLoss', 'entropy', 'loss'] as const)
      expect(Math.abs(report[name] - wanted[name])).toBeLessThan(1e-5);
    const gradientOf = (name: string) => policy.gradient(policy.parameters.findIndex((item) => item.name === name));
    expect(distance(gradientOf('actor.head.bias'), byHead)).toBeLessThan(1e-5);
    expect(distance(gradientOf('critic.head.bias'), [byCritic])).toBeLessThan(1e-5);
  });
});
