import { afterAll, describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import {
  defaults,
  distance,
  type GoldenStep,
  golden,
  goldenRows,
  goldenShape,
  goldenTensors,
  identity,
  single,
} from './fixtures/golden-rows.ts';
import { ReferencePolicy } from './reference/policy.ts';
import type { Engine, StepReport, UpdateSettings } from './types.ts';

const settings: UpdateSettings = {
  ...defaults,
  clip: golden.clip,
  entropyCoefficient: golden.entropy_coefficient,
  valueCoefficient: golden.value_coefficient,
  maxGradNorm: golden.max_grad_norm,
};
const n = golden.action.length;
const scalars: [keyof StepReport, keyof GoldenStep][] = [
  ['loss', 'loss'],
  ['policyLoss', 'policy_loss'],
  ['valueLoss', 'value_loss'],
  ['k1', 'kl_k1'],
  ['k2', 'kl_k2'],
  ['k3', 'kl_k3'],
  ['clipFraction', 'clip_fraction'],
  ['gradNorm', 'grad_norm_before_clip'],
];

describe('the golden PPO steps', () => {
  it('are reproduced by the reference to 1e-10', () => {
    const policy = new ReferencePolicy(goldenShape, RandomStream.of(1));
    goldenTensors(golden.start).forEach((values, index) => {
      policy.write(index, values);
    });
    const out = { logp: new Float64Array(n), entropy: new Float64Array(n), value: new Float64Array(n) };
    for (const step of golden.steps) {
      const report = policy.update(goldenRows(), identity(n), 0, n, settings, out);
      for (const [ours, theirs] of scalars)
        expect(Math.abs(Number(report[ours]) - Number(step[theirs])), ours).toBeLessThan(1e-10);
      expect(distance(out.logp, step.new_logp)).toBeLessThan(1e-10);
      expect(distance(out.entropy, step.entropy)).toBeLessThan(1e-10);
      expect(distance(out.value, step.value)).toBeLessThan(1e-10);
      const gradients = goldenTensors(step.gradients_before_clip);
      const after = goldenTensors(step.after);
      policy.parameters.forEach(({ name }, index) => {
        expect(distance(policy.exactGradient(index), gradients[index]), name).toBeLessThan(1e-10);
        expect(distance(policy.exact(index), after[index]), name).toBeLessThan(1e-10);
      });
    }
  });

  const engines: Engine[] = [];
  afterAll(() => {
    for (const engine of engines) engine.dispose();
  });
  for (const kernel of ['relaxed', 'simd'] as const) {
    for (const threads of [1, 2] as const) {
      it(`are reproduced by the ${kernel} kernel on ${threads} thread(s) to single precision`, async () => {
        const engine = await createEngine({ engine: 'wasm', kernel, threads });
        engines.push(engine);
        expect([engine.kernel, engine.threads]).toEqual([kernel, threads]);
        const policy = engine.policy(goldenShape, RandomStream.of(1));
        goldenTensors(golden.start).forEach((values, index) => {
          policy.write(index, values);
        });
        const rows = single(goldenRows());
        const out = { logp: new Float32Array(n), entropy: new Float32Array(n), value: new Float32Array(n) };
        for (const step of golden.steps) {
          const [report] = engine.update([{ policy, rows, order: identity(n), from: 0, to: n, settings, out }]);
          for (const [ours, theirs] of scalars) {
            const wanted = Number(step[theirs]);
            expect(Math.abs(Number(report[ours]) - wanted), ours).toBeLessThan(1e-6 + 1e-5 * Math.abs(wanted));
          }
          const ratios = step.ratio.map((ratio) => ratio - 1);
          const mean = ratios.reduce((sum, ratio) => sum + ratio, 0) / n;
          expect(report.ratioMean).toBeCloseTo(1 + mean, 6);
          expect(report.ratioStd).toBeCloseTo(
            Math.sqrt(ratios.reduce((sum, ratio) => sum + (ratio - mean) ** 2, 0) / n),
            5,
          );
          expect(report.finite).toBe(true);
          expect(distance(out.logp, step.new_logp)).toBeLessThan(1e-5);
          expect(distance(out.entropy, step.entropy)).toBeLessThan(1e-5);
          expect(distance(out.value, step.value)).toBeLessThan(1e-5);
          const gradients = goldenTensors(step.gradients_before_clip);
          const after = goldenTensors(step.after);
          policy.parameters.forEach(({ name }, index) => {
            expect(distance(policy.gradient(index), gradients[index]), `gradient of ${name}`).toBeLessThan(1e-5);
            expect(distance(policy.read(index), after[index]), `${name} after`).toBeLessThan(1e-5);
          });
        }
      });
    }
  }
});
