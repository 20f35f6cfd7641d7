import { afterAll, describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import { type Engine, type MlpLoss, type MlpShape, plainRoom } from './types.ts';

const engines: Engine[] = [];
afterAll(() => {
  for (const engine of engines) engine.dispose();
});

const adam = { beta1: 0.9, beta2: 0.999, eps: 1e-6 };
const shape: MlpShape = { inputs: 7, hidden: [13], outputs: 5, activation: 'tanh', outputGain: 2 };
const n = 150;

function taught(kind: MlpLoss['kind']): MlpLoss {
  const stream = RandomStream.of(3, kind);
  if (kind === 'gaussian') return { kind, targets: Float32Array.from({ length: n * 5 }, () => stream.normal()) };
  if (kind === 'bernoulli') return { kind, targets: Float32Array.from({ length: n * 5 }, () => stream.below(2)) };
  // Every seventh row is left out, and every fifth may choose freely.
  const targets = Int32Array.from({ length: n }, (_, row) => (row % 7 === 0 ? -1 : stream.below(5)));
  const legal = Int32Array.from(targets, (target, row) =>
    row % 5 === 0 ? 0 : stream.below(32) | (target < 0 ? 1 : 1 << target),
  );
  return { kind, targets, legal };
}

/** Losses, gradients by inputs and values after a few steps. */
async function learnt(kernel: 'reference' | 'simd' | 'relaxed', threads: 1 | 2, loss: MlpLoss, here: boolean) {
  const engine = await createEngine(kernel === 'reference' ? { kernel } : { engine: 'wasm', kernel, threads });
  engines.push(engine);
  const mlp = engine.mlp(shape, RandomStream.of(1));
  const optimizer = engine.adam([{ mlp, group: { learningRate: 1e-2, weightDecay: 0 } }], adam);
  const room = here ? engine.room : plainRoom;
  const stream = RandomStream.of(9);
  const x = room.column(Float32Array, n * 7);
  for (let i = 0; i < x.length; i++) x[i] = 2 * stream.normal();
  const gradIn = room.column(Float32Array, n * 7);
  const seen: number[][] = [];
  for (let step = 0; step < 3; step++) {
    seen.push([mlp.learn(x, n, loss, gradIn)], Array.from(gradIn), [optimizer.step(1)]);
    // What is forgotten leaves no trace.
    mlp.learn(x, n, loss);
    optimizer.clear();
  }
  seen.push(...mlp.parameters.map((_, index) => Array.from(mlp.read(index))));
  return seen;
}

describe('a network by itself', () => {
  for (const kind of ['bernoulli', 'gaussian', 'choice'] as const)
    it(`learns in one pass what the reference learns: ${kind}`, async () => {
      const loss = taught(kind);
      const wanted = await learnt('reference', 1, loss, false);
      for (const kernel of ['simd', 'relaxed'] as const) {
        const got = await learnt(kernel, 1, loss, true);
        got.forEach((values, i) => {
          for (let j = 0; j < values.length; j++) expect(Math.abs(values[j] - wanted[i][j])).toBeLessThan(2e-5);
        });
        expect(await learnt(kernel, 2, loss, false)).toEqual(got);
      }
    });

  it('gives the probabilities of choices where they are wanted', async () => {
    const legal = Int32Array.from({ length: n }, (_, row) => (row % 9 === 0 ? -1 : row % 32));
    const stride = 8;
    const shares = async (kernel: 'reference' | 'simd' | 'relaxed', here: boolean) => {
      const engine = await createEngine(kernel === 'reference' ? { kernel } : { engine: 'wasm', kernel });
      engines.push(engine);
      const mlp = engine.mlp(shape, RandomStream.of(1));
      const stream = RandomStream.of(4);
      const x = Float32Array.from({ length: n * 7 }, () => 3 * stream.normal());
      const room = here ? engine.room : plainRoom;
      const all = room.column(Float32Array, n * stride).fill(7);
      const choices = { legal, shares: all.subarray(2), stride };
      engine.forward([{ mlp, x, rows: n, out: new Float32Array(n * 5), choices }]);
      return Array.from(all);
    };
    const wanted = await shares('reference', false);
    expect(wanted.filter((_, i) => i % stride < 2 || i % stride === 7).every((value) => value === 7)).toBe(true);
    for (const kernel of ['simd', 'relaxed'] as const) {
      const got = await shares(kernel, true);
      got.forEach((value, i) => {
        expect(Math.abs(value - wanted[i])).toBeLessThan(1e-5);
      });
      expect(await shares(kernel, false)).toEqual(got);
    }
  });

  it('refuses targets that it cannot be taught', async () => {
    for (const kernel of ['reference', 'simd'] as const) {
      const engine = await createEngine({ kernel });
      engines.push(engine);
      const mlp = engine.mlp(shape, RandomStream.of(1));
      const x = new Float32Array(14);
      const legal = Int32Array.of(0, 6);
      expect(() => mlp.learn(x, 2, { kind: 'gaussian', targets: new Float32Array(9) })).toThrow('need 10');
      expect(() => mlp.learn(x, 2, { kind: 'choice', targets: Int32Array.of(5, 1), legal })).toThrow('row 0: target 5');
      expect(() => mlp.learn(x, 2, { kind: 'choice', targets: Int32Array.of(4, 3), legal })).toThrow('row 1: target 3');
    }
  });
});
