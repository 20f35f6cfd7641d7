import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localPolicy, localPolicyBuffer } from '../math/local-policy.ts';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import { defaults, identity, inRoom, randomRows, rowOutputs } from './fixtures/golden-rows.ts';
import { ReferenceEngine } from './reference/engine.ts';
import type { Engine, MlpShape, PolicyShape, UpdateSettings } from './types.ts';

const variants = ['relaxed', 'simd'] as const;
const engines = new Map<string, Engine>();
const engineOf = (name: string) => engines.get(name)!;
beforeAll(async () => {
  for (const kernel of variants) {
    for (const threads of [1, 2] as const)
      engines.set(`${kernel}${threads}`, await createEngine({ engine: 'wasm', kernel, threads }));
  }
});
afterAll(() => {
  for (const engine of engines.values()) engine.dispose();
});

const mlp = (inputs: number, outputs: number): fc.Arbitrary<MlpShape> =>
  fc.record({
    inputs: fc.constant(inputs),
    hidden: fc.array(fc.integer({ min: 1, max: 37 }), { maxLength: 3 }),
    outputs: fc.constant(outputs),
    activation: fc.constantFrom('tanh' as const, 'relu' as const),
    outputGain: fc.constantFrom(0.5, 1),
  });

const policyShape: fc.Arbitrary<PolicyShape> = fc
  .record({
    head: fc.constantFrom('fixed' as const, 'pointer' as const),
    observation: fc.integer({ min: 1, max: 21 }),
    state: fc.integer({ min: 1, max: 21 }),
    features: fc.integer({ min: 1, max: 7 }),
    actions: fc.integer({ min: 1, max: 13 }),
  })
  .chain(({ head, observation, state, features, actions }) =>
    fc.record({
      head: fc.constant(head),
      features: fc.constant(head === 'pointer' ? features : 0),
      actor: mlp(observation + (head === 'pointer' ? features : 0), head === 'pointer' ? 1 : actions),
      critic: mlp(state, 1),
    }),
  );

const someSettings: fc.Arbitrary<UpdateSettings> = fc.record({
  clip: fc.constantFrom(0.1, 0.3),
  valueCoefficient: fc.constantFrom(0.5, 1),
  entropyCoefficient: fc.constantFrom(0, 0.02),
  valueLoss: fc.constantFrom('mse' as const, 'huber' as const),
  huberDelta: fc.constantFrom(0.5, 1),
  valueClip: fc.constantFrom(null, 0.2),
  maxGradNorm: fc.constantFrom(null, 0.05),
  gradClip: fc.constantFrom('global' as const, 'role' as const),
  temperature: fc.constantFrom(1, 0.7, 2),
  advantageScale: fc.constantFrom(1, 3),
  groups: fc.constant({ ...defaults.groups, head: { learningRate: 2e-3, weightDecay: 0.01 } }),
  adam: fc.constant(defaults.adam),
});

describe('the kernels', () => {
  for (const kernel of variants) {
    it(`of the ${kernel} variant agree with the reference on any shape, head, mask and loss`, () => {
      fc.assert(
        fc.property(
          policyShape,
          someSettings,
          fc.integer({ min: 1, max: 150 }),
          fc.integer({ min: 0, max: 1e6 }),
          fc.boolean(),
          (shape, settings, n, seed, weighted) => {
            const rows = randomRows(shape, n, 11, RandomStream.of(seed, 'rows'), weighted);
            const order = RandomStream.of(seed, 'order').shuffle(identity(n));
            const from = Math.floor(n / 4);
            const reference = new ReferenceEngine().policy(shape, RandomStream.of(seed, 'values'));
            const engine = engineOf(`${kernel}${seed % 2 === 0 ? 1 : 2}`);
            const policy = engine.policy(shape, RandomStream.of(seed, 'values'));
            const wanted = rowOutputs(rows);
            const got = rowOutputs(rows);
            const expected = reference.update(rows, order, from, n, settings, wanted, true);
            const given = seed % 3 === 0 ? inRoom(engine.room, rows) : rows;
            const [report] = engine.update([
              { policy, rows: given, order, from, to: n, settings, out: got, measureTensors: true },
            ]);
            for (const column of ['logp', 'entropy', 'value', 'logits'] as const) {
              expect(maxDifference(got[column], wanted[column]), column).toBeLessThan(2e-5);
            }
            for (const name of [
              'loss',
              'policyLoss',
              'valueLoss',
              'entropy',
              'k1',
              'k2',
              'k3',
              'ratioMean',
              'ratioStd',
              'gradNorm',
              'policyGradNorm',
              'valueGradNorm',
            ] as const) {
              expect(Math.abs(report[name] - expected[name]), name).toBeLessThan(
                1e-5 + 3e-5 * Math.abs(expected[name]),
              );
            }
            const scale = expected.gradNorm;
            policy.parameters.forEach(({ name }, index) => {
              expect(maxDifference(policy.gradient(index), reference.gradient(index)), name).toBeLessThan(
                3e-5 * scale + 1e-7,
              );
              const [ours, theirs] = [report.tensors![index], expected.tensors![index]];
              expect(Math.abs(ours.gradNorm - theirs.gradNorm), `gradient norm of ${name}`).toBeLessThan(
                1e-4 * scale + 1e-7,
              );
              expect(Math.abs(ours.norm - theirs.norm), `norm of ${name}`).toBeLessThan(1e-3 * (theirs.norm + 1));
            });
          },
        ),
        { numRuns: 60, seed: 7 },
      );
    });

    it(`of the ${kernel} variant give the same bits on one thread and on two, in its room or elsewhere, alone or with other jobs`, () => {
      const shapes: PolicyShape[] = [
        { head: 'fixed', features: 0, actor: net(19, [33, 17], 7), critic: net(19, [20], 1) },
        { head: 'pointer', features: 5, actor: net(19 + 5, [26, 9], 1), critic: net(23, [20, 8], 1) },
      ];
      const run = (count: number, threads: number, held: boolean, together: boolean) => {
        const engine = engineOf(`${kernel}${threads}`);
        const jobs = shapes.map((shape, i) => {
          const made = randomRows(shape, count, 9, RandomStream.of(5, i));
          const rows = held ? inRoom(engine.room, made) : made;
          const policy = engine.policy(shape, RandomStream.of(6, i));
          const order = RandomStream.of(7).shuffle(identity(count));
          return { policy, rows, order, from: 10, to: count, settings: defaults, out: rowOutputs(rows) };
        });
        for (let step = 0; step < 3; step++) {
          if (together) engine.update(jobs);
          else for (const job of jobs) engine.update([job]);
        }
        return jobs.map(({ policy, out }) => ({ save: policy.save(), out }));
      };
      const wanted = run(333, 1, false, true);
      expect(run(333, 2, false, true)).toEqual(wanted);
      expect(run(333, 2, true, false)).toEqual(wanted);
      expect(run(333, 1, true, false)).toEqual(wanted);
      // Many rows fall into more lanes.
      expect(run(2100, 2, true, false)).toEqual(run(2100, 1, false, true));
    });

    it(`of the ${kernel} variant give a row its own figures in whatever order rows are asked for, and the same step for each order`, () => {
      const shape: PolicyShape = { head: 'fixed', features: 0, actor: net(11, [18], 6), critic: net(11, [9], 1) };
      const engine = engineOf(`${kernel}2`);
      const rows = randomRows(shape, 150, 6, RandomStream.of(8));
      const run = (order: Int32Array) => {
        const policy = engine.policy(shape, RandomStream.of(9));
        const out = rowOutputs(rows);
        engine.update([{ policy, rows, order, from: 0, to: order.length, settings: defaults, out }]);
        return { out, save: policy.save() };
      };
      const plain = run(identity(150));
      const order = RandomStream.of(10).shuffle(identity(150));
      const mixed = run(order);
      expect(mixed.save).toEqual(plain.save);
      for (const column of ['logp', 'entropy', 'value'] as const)
        expect(mixed.out[column]).toEqual(Float32Array.from(order, (row) => plain.out[column][row]));
      const logits = Array.from(order).flatMap((row) =>
        Array.from(plain.out.logits.subarray(rows.offsets[row], rows.offsets[row + 1])),
      );
      expect(Array.from(mixed.out.logits.subarray(0, logits.length))).toEqual(logits);
      // A row may be asked for twice, and counts twice.
      const twice = run(Int32Array.of(3, 1, 3, 0));
      expect(twice.out.logp[0]).toBe(plain.out.logp[3]);
      expect(twice.out.logp[2]).toBe(plain.out.logp[3]);
    });

    it(`of the ${kernel} variant replay what they acted, bit for bit, whatever the grouping of rows`, () => {
      for (const head of ['fixed', 'pointer'] as const) {
        const shape: PolicyShape = {
          head,
          features: head === 'pointer' ? 6 : 0,
          actor: net(head === 'pointer' ? 16 : 10, [24, 24], head === 'pointer' ? 1 : 12),
          critic: net(10, [24], 1),
        };
        const engine = engineOf(`${kernel}2`);
        const policy = engine.policy(shape, RandomStream.of(1));
        const rows = randomRows(shape, 203, 12, RandomStream.of(2));
        const acted = rowOutputs(rows);
        const uniforms = Float32Array.from({ length: 203 }, (_, i) => (i * 0.618) % 1);
        policy.act(rows, uniforms, 1, acted);
        rows.action = acted.action;
        acted.action.forEach((action, row) => {
          expect(rows.legal[rows.offsets[row] + action]).toBe(1);
        });
        const replayed = rowOutputs(rows);
        policy.evaluate(rows, identity(203), 0, 203, replayed);
        expect({ ...replayed, action: acted.action }).toEqual(acted);
        // Rows one at a time, in another order.
        const order = RandomStream.of(3).shuffle(identity(203));
        const one = { logp: new Float32Array(1), entropy: new Float32Array(1), value: new Float32Array(1) };
        for (let i = 0; i < 203; i += 7) {
          policy.evaluate(rows, order, i, i + 1, one);
          expect([one.logp[0], one.entropy[0], one.value[0]]).toEqual([
            acted.logp[order[i]],
            acted.entropy[order[i]],
            acted.value[order[i]],
          ]);
        }
      }
    });
  }

  it('use the distribution of localPolicy', () => {
    const shape: PolicyShape = { head: 'fixed', features: 0, actor: net(5, [8], 9, 3), critic: net(5, [8], 1) };
    for (const engine of engines.values()) {
      const policy = engine.policy(shape, RandomStream.of(1));
      const rows = randomRows(shape, 90, 9, RandomStream.of(2));
      const out = rowOutputs(rows);
      policy.evaluate(rows, identity(90), 0, 90, out, 0.8);
      const local = localPolicyBuffer(9);
      for (let row = 0; row < 90; row++) {
        const range = { start: rows.offsets[row], count: rows.offsets[row + 1] - rows.offsets[row] };
        const entropy = localPolicy(out.logits, null, rows.legal, 0.8, local, range);
        expect(Math.abs(out.logp[row] - local.logProbabilities[rows.action[row]])).toBeLessThan(2e-6);
        expect(Math.abs(out.entropy[row] - entropy)).toBeLessThan(2e-6);
      }
    }
  });

  it('sample each candidate as often as its probability says', () => {
    const shape: PolicyShape = { head: 'fixed', features: 0, actor: net(1, [], 5, 1), critic: net(1, [], 1) };
    const policy = engineOf('simd1').policy(shape, RandomStream.of(1));
    policy.write(0, [0, 0, 0, 0, 0]);
    policy.write(1, [0, 1, 2, 0.5, -1]);
    const n = 10_000;
    const rows = randomRows(shape, n, 5, RandomStream.of(2));
    rows.offsets = Int32Array.from({ length: n + 1 }, (_, i) => 4 * i);
    rows.subset = Int32Array.from({ length: 4 * n }, (_, i) => [2, 0, 4, 1][i % 4]);
    rows.legal = Uint8Array.from({ length: 4 * n }, (_, i) => [1, 0, 1, 1][i % 4]);
    const out = rowOutputs(rows);
    policy.act(
      rows,
      Float32Array.from({ length: n }, (_, i) => (i + 0.5) / n),
      1,
      out,
    );
    const counts = [0, 0, 0, 0];
    for (const action of out.action) counts[action]++;
    const local = localPolicyBuffer(4);
    localPolicy([0, 1, 2, 0.5, -1], [2, 0, 4, 1], [1, 0, 1, 1], 1, local);
    // Evenly spaced uniforms miss a share by at most one draw at each end.
    counts.forEach((count, i) => {
      expect(Math.abs(count - n * local.probabilities[i])).toBeLessThan(2);
    });
    policy.act({ ...rows, length: 1 }, Float32Array.of(1), 1, out);
    expect(out.action[0]).toBe(3);
  });

  it('give the same gradient for any permutation of a minibatch, to 1e-6 of its norm', () => {
    const shape: PolicyShape = { head: 'fixed', features: 0, actor: net(12, [32, 32], 9), critic: net(12, [32], 1) };
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1000 }), (seed) => {
        const rows = randomRows(shape, 256, 9, RandomStream.of(4));
        const gradients = (order: Int32Array) => {
          const engine = engineOf(seed % 2 ? 'relaxed2' : 'simd1');
          const policy = engine.policy(shape, RandomStream.of(5));
          const [{ gradNorm }] = engine.update([{ policy, rows, order, from: 0, to: 256, settings: defaults }]);
          return { all: policy.parameters.map((_, index) => policy.gradient(index)), gradNorm };
        };
        const plain = gradients(identity(256));
        const shuffled = gradients(RandomStream.of(seed).shuffle(identity(256)));
        plain.all.forEach((gradient, index) => {
          expect(maxDifference(gradient, shuffled.all[index])).toBeLessThan(1e-6 * Math.max(1, plain.gradNorm));
        });
      }),
      { numRuns: 10, seed: 1 },
    );
  });

  it('give the members of a subset the same probabilities in any order', () => {
    const shape: PolicyShape = { head: 'fixed', features: 0, actor: net(6, [16], 9, 1), critic: net(6, [16], 1) };
    for (const engine of engines.values()) {
      const policy = engine.policy(shape, RandomStream.of(5));
      const rows = randomRows(shape, 1, 9, RandomStream.of(4));
      rows.offsets = Int32Array.of(0, 5);
      rows.subset = Int32Array.of(7, 2, 5, 0, 8);
      rows.legal = Uint8Array.of(1, 1, 0, 1, 1);
      const logpOf = (subset: number[], id: number) => {
        const out = rowOutputs(rows);
        const legal = Uint8Array.from(subset, (member) => (member === 5 ? 0 : 1));
        const action = Int32Array.of(subset.indexOf(id));
        policy.evaluate({ ...rows, subset: Int32Array.from(subset), legal, action }, identity(1), 0, 1, out);
        return out.logp[0];
      };
      for (const id of [7, 2, 0, 8])
        expect(Math.abs(logpOf([7, 2, 5, 0, 8], id) - logpOf([8, 5, 0, 7, 2], id))).toBeLessThan(5e-7);
    }
  });
});

function net(inputs: number, hidden: number[], outputs: number, outputGain = 0.5): MlpShape {
  return { inputs, hidden, outputs, activation: 'tanh', outputGain };
}

function maxDifference(got: ArrayLike<number>, wanted: ArrayLike<number>): number {
  let most = 0;
  for (let i = 0; i < wanted.length; i++) {
    const difference = Math.abs(got[i] - wanted[i]);
    if (!(difference <= most)) most = difference;
  }
  return most;
}
