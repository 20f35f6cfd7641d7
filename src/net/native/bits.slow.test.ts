/** Every native variant gives the bits of the relaxed WASM kernels: decisions, replays, updates, networks by themselves. */
import { beforeAll, describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import { createEngine } from '../engine.ts';
import { packageRoot, platform } from '../node.ts';
import type { Activation, Engine, MlpLoss, PolicyShape, Rows, UpdateSettings } from '../types.ts';
import { KernelEngine } from '../wasm/engine.ts';
import { nativeKernels } from './kernels.ts';
import { buildNative, findCompiler, findNative } from './node.ts';

const possible = 'addon' in findNative(packageRoot) || findCompiler() !== null;

/** So many rows of random decisions; a share of the inputs is zero. */
function rowsOf(shape: PolicyShape, length: number, zeros: number, weighted: boolean, stream: RandomStream): Rows {
  const observation = shape.actor.inputs - shape.features;
  const number = () => (stream.uniform() < zeros ? 0 : stream.uniform() * 4 - 2);
  const offsets = new Int32Array(length + 1);
  for (let i = 0; i < length; i++) {
    const most = shape.head === 'fixed' ? shape.actor.outputs : 13;
    offsets[i + 1] = offsets[i] + 1 + Math.floor(stream.uniform() * most);
  }
  const items = offsets[length];
  const action = new Int32Array(length);
  const legal = Uint8Array.from({ length: items }, () => (stream.uniform() < 0.8 ? 1 : 0));
  for (let i = 0; i < length; i++) {
    action[i] = Math.floor(stream.uniform() * (offsets[i + 1] - offsets[i]));
    legal[offsets[i] + action[i]] = 1;
  }
  const floats = (count: number, scale = 1, from = 0) =>
    Float32Array.from({ length: count }, () => from + scale * (stream.uniform() - 0.5));
  return {
    length,
    obs: Float32Array.from({ length: length * observation }, number),
    state: Float32Array.from({ length: length * shape.critic.inputs }, number),
    offsets,
    subset: Int32Array.from({ length: items }, () => Math.floor(stream.uniform() * shape.actor.outputs)),
    legal,
    candidateFeatures: floats(items * shape.features),
    action,
    // Some rows are far outside of the clip range, and some ratios underflow.
    oldLogp: floats(length, 3, -1.5),
    advantage: floats(length, 4),
    return: floats(length, 5),
    oldValue: floats(length, 2),
    ...(weighted
      ? { weight: Float32Array.from({ length }, () => (stream.uniform() < 0.2 ? 0 : 2 * stream.uniform())) }
      : {}),
  };
}

function shapeOf(
  head: 'fixed' | 'pointer',
  inputs: number,
  hidden: number[],
  outputs: number,
  activation: Activation,
): PolicyShape {
  const features = head === 'pointer' ? 5 : 0;
  return {
    head,
    features,
    actor: {
      inputs: inputs + features,
      hidden,
      outputs: head === 'pointer' ? 1 : outputs,
      activation,
      outputGain: 0.5,
    },
    critic: { inputs: inputs + 3, hidden, outputs: 1, activation, outputGain: 1 },
  };
}

function settingsOf(valueLoss: 'mse' | 'huber', valueClip: number | null, weightDecay: number): UpdateSettings {
  const group = { learningRate: 0.01, weightDecay };
  return {
    clip: 0.2,
    valueCoefficient: 0.5,
    entropyCoefficient: 0.01,
    valueLoss,
    huberDelta: 1,
    valueClip,
    maxGradNorm: 0.5,
    gradClip: 'global',
    temperature: 1,
    advantageScale: 1,
    groups: { trunk: group, head: group, critic: group },
    adam: { beta1: 0.9, beta2: 0.999, eps: 1e-5 },
  };
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Float32Array | Int32Array | Float64Array) =>
  Buffer.from(buffer, byteOffset, byteLength).toString('hex');

/** Everything that an engine gives for one case, as bytes in text: a -0 differs from a 0. */
function figures(engine: Engine, shape: PolicyShape, rows: Rows, settings: UpdateSettings): string[] {
  const n = rows.length;
  const policy = engine.policy(shape, RandomStream.of(5));
  const said: string[] = [];
  const say = (name: string, values: Float32Array | Int32Array | Float64Array) =>
    said.push(`${name} ${bytesOf(values)}`);
  const out = () => ({
    action: new Int32Array(n),
    logp: new Float32Array(n),
    entropy: new Float32Array(n),
    value: new Float32Array(n),
    logits: new Float32Array(rows.offsets[n]),
  });
  const stream = RandomStream.of(9);
  const acted = out();
  policy.act(
    rows,
    Float32Array.from({ length: n }, () => stream.uniform()),
    1.25,
    acted,
  );
  for (const [name, values] of Object.entries(acted)) say(name, values);
  const order = Int32Array.from({ length: n }, (_, i) => (i * 17 + 3) % n);
  for (let step = 0; step < 3; step++) {
    const replayed = out();
    const [report] = engine.update([
      { policy, rows, order, from: 0, to: n, settings, out: replayed, measureTensors: step === 1 },
    ]);
    const { tensors, ...sums } = report;
    say('report', Float64Array.from(Object.values(sums), Number));
    for (const tensor of tensors ?? []) say('tensor', Float64Array.from(Object.values(tensor)));
    for (const name of ['logp', 'entropy', 'logits'] as const) say(name, replayed[name]);
    for (const index of policy.parameters.keys()) say('gradient', policy.gradient(index));
  }
  const save = policy.save();
  for (const list of [save.values, save.firstMoments, save.secondMoments])
    for (const values of list) say('save', values);
  return said;
}

function networkFigures(engine: Engine, rows: number, inputs: number, hidden: number[], zeros: number): string[] {
  const mlp = engine.mlp({ inputs, hidden, outputs: 6, activation: 'relu', outputGain: 1 }, RandomStream.of(3));
  const adam = engine.adam([{ mlp, group: { learningRate: 0.01, weightDecay: 0.1 } }], {
    beta1: 0.9,
    beta2: 0.999,
    eps: 1e-8,
  });
  const stream = RandomStream.of(rows);
  const x = Float32Array.from({ length: rows * inputs }, () => (stream.uniform() < zeros ? 0 : stream.uniform() - 0.5));
  const y = new Float32Array(rows * 6);
  const gradIn = new Float32Array(rows * inputs);
  for (let step = 0; step < 3; step++) {
    mlp.forward(x, rows, y);
    mlp.backward(y, rows, gradIn);
    adam.step(0.5);
  }
  const losses: MlpLoss[] = [
    { kind: 'bernoulli', targets: Float32Array.from(y, (value) => (value > 0 ? 1 : 0)) },
    { kind: 'gaussian', targets: y.map((value) => value / 2) },
    {
      kind: 'choice',
      targets: Int32Array.from({ length: rows }, (_, row) => (row % 5) - 1),
      legal: Int32Array.from({ length: rows }, (_, row) => (row % 3 === 0 ? 0 : 31)),
    },
  ];
  const figures = losses.flatMap((loss) => [mlp.learn(x, rows, loss, gradIn), adam.step(0.5)]);
  const shares = new Float32Array(rows * 6);
  const legal = Int32Array.from({ length: rows }, (_, row) => (row % 60) - 1);
  engine.forward([{ mlp, x, rows, out: y, choices: { legal, shares, stride: 6 } }]);
  const { values, secondMoments } = mlp.save();
  return [y, gradIn, Float32Array.from(figures), shares, ...values, ...secondMoments].map(bytesOf);
}

describe.skipIf(!possible)('the native engine', () => {
  let wasm: Engine;
  const native: Engine[] = [];

  beforeAll(async () => {
    if ('reason' in findNative(packageRoot)) buildNative(packageRoot);
    const addon = platform.native!();
    if (typeof addon === 'string') throw new Error(addon);
    wasm = await createEngine({ engine: 'wasm', kernel: 'relaxed', threads: 1 });
    for (const variant of addon.variants)
      for (const threads of [1, 2] as const) native.push(new KernelEngine(nativeKernels(addon, threads, variant)));
    return () => {
      for (const engine of [wasm, ...native]) engine.dispose();
    };
  }, 300_000);

  it('is taken where it is there, and says so', async () => {
    const engine = await createEngine();
    expect([engine.engine, engine.kernel]).toEqual(['native', 'relaxed']);
    engine.dispose();
    await expect(createEngine({ engine: 'native', kernel: 'simd' })).rejects.toThrow(/relaxed kernel/);
    const without = { ...platform, native: () => 'none is built' };
    await expect(createEngine({ engine: 'native', platform: without })).rejects.toThrow(/none is built/);
    const other = await createEngine({ platform: without, threads: 1 });
    expect([other.engine, other.kernel]).toEqual(['wasm', 'relaxed']);
    other.dispose();
  });

  const cases = [
    ['a fixed head', shapeOf('fixed', 17, [32, 24], 9, 'tanh'), 0, settingsOf('mse', null, 0)],
    ['a wide fixed head, ReLU, Huber', shapeOf('fixed', 40, [70, 33], 21, 'relu'), 0, settingsOf('huber', 0.3, 0.01)],
    ['inputs that are mostly zero', shapeOf('fixed', 100, [64, 64], 6, 'tanh'), 0.9, settingsOf('mse', 0.2, 0)],
    ['a pointer head', shapeOf('pointer', 11, [48, 20], 1, 'tanh'), 0, settingsOf('mse', null, 0.02)],
    ['no hidden layer', shapeOf('fixed', 7, [], 5, 'tanh'), 0, settingsOf('huber', null, 0)],
  ] as const;
  for (const [name, shape, zeros, settings] of cases)
    it(`gives the bits of WASM with ${name}, for every number of rows`, () => {
      for (const [index, length] of [1, 3, 4, 5, 12, 61, 64, 130, 330].entries()) {
        const rows = rowsOf(shape, length, zeros, index % 2 === 1, RandomStream.of(100 + index));
        const wanted = figures(wasm, shape, rows, settings);
        for (const engine of native) expect(figures(engine, shape, rows, settings)).toEqual(wanted);
      }
    });

  it('gives the bits of WASM in large minibatches, which have twice as many lanes', () => {
    const shape = shapeOf('fixed', 64, [128, 128], 9, 'tanh');
    const rows = rowsOf(shape, 2100, 0, false, RandomStream.of(1));
    const wanted = figures(wasm, shape, rows, settingsOf('mse', null, 0));
    for (const engine of native) expect(figures(engine, shape, rows, settingsOf('mse', null, 0))).toEqual(wanted);
  });

  it('gives the bits of WASM in networks by themselves', () => {
    for (const rows of [1, 5, 64, 77, 200]) {
      for (const [inputs, hidden, zeros] of [
        [19, [33, 20], 0],
        [70, [33, 20], 0.95],
        [40, [], 0.9],
      ] as const) {
        const made = (engine: Engine) => networkFigures(engine, rows, inputs, [...hidden], zeros);
        const wanted = made(wasm);
        for (const engine of native) expect(made(engine)).toEqual(wanted);
      }
    }
  });

  it('keeps NaN and infinity where WASM has them', () => {
    const shape = shapeOf('fixed', 9, [16], 5, 'tanh');
    const rows = rowsOf(shape, 20, 0, false, RandomStream.of(4));
    rows.obs[3] = Number.NaN;
    rows.advantage[5] = Infinity;
    rows.return[7] = -Infinity;
    const outcome = (engine: Engine) => {
      const policy = engine.policy(shape, RandomStream.of(5));
      const order = Int32Array.from({ length: 20 }, (_, i) => i);
      const [report] = engine.update([{ policy, rows, order, from: 0, to: 20, settings: settingsOf('huber', 0.1, 0) }]);
      return [report, policy.save()];
    };
    for (const engine of native) expect(outcome(engine)).toEqual(outcome(wasm));
  });

  it('refuses an id that the network does not have, wherever it is met, and goes on after that', () => {
    const shape = shapeOf('fixed', 9, [16], 5, 'tanh');
    const rows = rowsOf(shape, 20, 0, false, RandomStream.of(4));
    const order = Int32Array.from({ length: 20 }, (_, i) => i);
    for (const engine of native) {
      const policy = engine.policy(shape, RandomStream.of(5));
      const before = policy.save();
      for (const id of [5, -1]) {
        const wrong = { ...rows, subset: rows.subset.map((given, i) => (i === 3 ? id : given)) };
        const floats = () => new Float32Array(20);
        const out = { action: new Int32Array(20), logp: floats(), entropy: floats(), value: floats() };
        const said = `subset[3] is ${id}; a global action id must lie in 0 .. 4.`;
        const job = { policy, rows: wrong, order, from: 0, to: 20, settings: settingsOf('mse', null, 0) };
        expect(() => policy.act(wrong, floats(), 1, out)).toThrow(said);
        expect(() => engine.act([{ policy, rows: wrong, uniforms: floats(), temperature: 1, out }])).toThrow(said);
        expect(() => policy.evaluate(wrong, order, 0, 20, out)).toThrow(said);
        expect(() => engine.update([job])).toThrow(said);
        policy.evaluate(rows, order, 0, 20, out);
      }
      expect(policy.save()).toEqual(before);
    }
  });

  it('says what is wrong instead of computing after it was disposed of', () => {
    const addon = platform.native!();
    if (typeof addon === 'string') throw new Error(addon);
    const engine = new KernelEngine(nativeKernels(addon, 2));
    const mlp = engine.mlp(
      { inputs: 2, hidden: [4], outputs: 1, activation: 'tanh', outputGain: 1 },
      RandomStream.of(1),
    );
    engine.dispose();
    expect(() => mlp.forward(new Float32Array(4), 2, new Float32Array(2))).toThrow(/disposed of/);
  });
});
