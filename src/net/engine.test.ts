import { afterEach, describe, expect, it } from 'vitest';
import { RandomStream } from '../math/random.ts';
import { createEngine } from './engine.ts';
import { defaults, distance, identity, inRoom, randomRows, rowOutputs } from './fixtures/golden-rows.ts';
import { platform } from './node.ts';
import { pagePlatform } from './platform.ts';
import { type Engine, type EngineOptions, type PolicyShape, plainRoom, type Rows } from './types.ts';
import { loadKernels } from './wasm/kernels.ts';
import { control } from './wasm/threads.ts';

const mlp = (inputs: number, hidden: number[], outputs: number) => ({
  inputs,
  hidden,
  outputs,
  activation: 'tanh' as const,
  outputGain: 0.5,
});
const shape: PolicyShape = { head: 'fixed', features: 0, actor: mlp(9, [21, 10], 7), critic: mlp(9, [14], 1) };
const kernels = ['relaxed', 'simd', 'reference'] as const;

const open: Engine[] = [];
async function engineOf(options: EngineOptions): Promise<Engine> {
  const engine = await createEngine(options);
  open.push(engine);
  return engine;
}
afterEach(() => {
  for (const engine of open.splice(0)) engine.dispose();
});

describe('threads', () => {
  it('report a kernel that failed on the worker as an error, and never hang', async () => {
    platform.prepare();
    const { module, memory, threads } = await loadKernels('simd', true);
    await threads.start(platform, module);
    threads.begin(2);
    // There is no task of kind 99; it is left for the worker alone.
    threads.add(99, 0, 0);
    Atomics.store(memory.i32, control.remaining, 1);
    Atomics.add(memory.i32, control.wake, 1);
    Atomics.notify(memory.i32, control.wake);
    while (Atomics.load(memory.i32, control.done) === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    threads.add(99, 0, 0);
    expect(() => threads.run()).toThrow(/unreachable/);
    threads.begin(2);
    threads.add(99, 0, 0);
    threads.add(99, 0, 0);
    expect(() => threads.run()).toThrow(/unreachable/);
    threads.dispose();
    expect(() => threads.run()).toThrow();
  });
});

describe('an engine', () => {
  for (const kernel of kernels) {
    it(`says in which order the rows of a step lie in memory (${kernel})`, async () => {
      const engine = await engineOf({ kernel, threads: 1 });
      const policy = engine.policy(shape, RandomStream.of(4));
      const rows = randomRows(shape, 60, 7, RandomStream.of(1));
      const order = RandomStream.of(2).shuffle(identity(60));
      const visited = new Int32Array(40);
      engine.update([{ policy, rows, order, from: 20, to: 60, settings: defaults, visited }]);
      expect(Array.from(visited).sort((a, b) => a - b)).toEqual([...Array(40).keys()]);
      const visit = Array.from(visited, (place) => order[20 + place]);
      if (kernel !== 'reference') expect(visit).toEqual([...visit].sort((a, b) => a - b));
    });

    it(`continues from a save bit for bit (${kernel})`, async () => {
      const engine = await engineOf({ kernel, threads: 1 });
      const rows = randomRows(shape, 60, 7, RandomStream.of(1));
      const step = (policy: ReturnType<Engine['policy']>) =>
        engine.update([{ policy, rows, order: identity(60), from: 0, to: 60, settings: defaults }])[0];
      const policy = engine.policy(shape, RandomStream.of(2));
      for (let i = 0; i < 3; i++) step(policy);
      const save = structuredClone(policy.save());
      const other = engine.policy(shape, RandomStream.of(3));
      other.load(save);
      for (let i = 0; i < 3; i++) expect(step(other)).toEqual(step(policy));
      expect(other.save()).toEqual(policy.save());
    });

    it(`leaves the parameters alone when the loss is not finite, and says so (${kernel})`, async () => {
      const engine = await engineOf({ kernel, threads: 1 });
      const policy = engine.policy(shape, RandomStream.of(2));
      const rows = randomRows(shape, 30, 7, RandomStream.of(1));
      const before = policy.save();
      rows.advantage[17] = Number.NaN;
      const [report] = engine.update([{ policy, rows, order: identity(30), from: 0, to: 30, settings: defaults }]);
      expect(report.finite).toBe(false);
      expect(policy.save()).toEqual(before);
      rows.advantage[17] = 1;
      rows.obs[40] = Number.NaN;
      expect(
        engine.update([{ policy, rows, order: identity(30), from: 0, to: 30, settings: defaults }])[0].finite,
      ).toBe(false);
      expect(policy.save()).toEqual(before);
    });
  }

  it('begins with equal parameters on every kernel', async () => {
    const policies = await Promise.all(
      kernels.map(async (kernel) => (await engineOf({ kernel, threads: 1 })).policy(shape, RandomStream.of(4))),
    );
    policies[0].parameters.forEach((_, index) => {
      for (const policy of policies) expect(policy.read(index)).toEqual(policies[0].read(index));
    });
    expect(policies[0].parameters.map(({ name, role }) => `${name} ${role}`)).toEqual([
      'actor.0.weight trunk',
      'actor.0.bias trunk',
      'actor.1.weight trunk',
      'actor.1.bias trunk',
      'actor.head.weight head',
      'actor.head.bias head',
      'critic.0.weight critic',
      'critic.0.bias critic',
      'critic.head.weight critic',
      'critic.head.bias critic',
    ]);
  });

  it('runs as in a page without shared memory: one thread on plain memory that grows', async () => {
    const engine = await createEngine({ kernel: 'simd', threads: 1, platform: { ...pagePlatform, cores: 1 } });
    const policy = engine.policy(shape, RandomStream.of(2));
    const two = (await engineOf({ kernel: 'simd', threads: 2 })).policy(shape, RandomStream.of(2));
    // More rows than the first memory holds.
    const rows = randomRows(shape, 20_000, 7, RandomStream.of(1));
    const [out, wanted] = [rowOutputs(rows), rowOutputs(rows)];
    policy.evaluate(rows, identity(rows.length), 0, rows.length, out);
    two.evaluate(rows, identity(rows.length), 0, rows.length, wanted);
    expect(out).toEqual(wanted);
    engine.dispose();
  });

  it('chooses the relaxed kernel by itself in Node', async () => {
    expect((await engineOf({})).kernel).toBe('relaxed');
  });

  it('gives the same figures from columns of its room as from others, after its memory has grown too, and sees what changes in them', async () => {
    for (const threads of [1, 2] as const) {
      const engine = await engineOf({ kernel: 'simd', threads });
      const policy = engine.policy(shape, RandomStream.of(2));
      const rows = randomRows(shape, 20, 7, RandomStream.of(1));
      const own = inRoom(engine.room, rows);
      const evaluate = (these: Rows) => {
        const out = rowOutputs(these);
        policy.evaluate(these, identity(20), 3, 20, out);
        return out;
      };
      const before = evaluate(own);
      expect(before).toEqual(evaluate(rows));
      for (let i = 0; i < 5; i++) engine.room.column(Float32Array, 1_000_000);
      expect(evaluate(own)).toEqual(before);
      for (const { obs } of [rows, own]) obs.fill(0.5);
      expect(evaluate(own)).not.toEqual(before);
      expect(evaluate(own)).toEqual(evaluate(rows));
    }
  });

  it('refuses rows whose column for the update is too short, wherever it lies', async () => {
    const engine = await engineOf({ kernel: 'simd', threads: 2 });
    const policy = engine.policy(shape, RandomStream.of(2));
    const rows = inRoom(engine.room, randomRows(shape, 20, 7, RandomStream.of(1)));
    const advantage = rows.advantage.subarray(0, 19);
    expect(() => policy.evaluate({ ...rows, advantage }, identity(20), 0, 20, rowOutputs(rows))).toThrow(
      /column advantage has 19 entries; these rows need 20/,
    );
  });

  it('decides for several policies at once as each decides alone, and refuses a policy twice', async () => {
    for (const kernel of kernels) {
      const engine = await engineOf({ kernel });
      const jobs = [70, 0, 1, 33].map((count, i) => {
        const policy = engine.policy(shape, RandomStream.of(i));
        const rows = { ...randomRows(shape, Math.max(count, 1), 7, RandomStream.of(i, 'rows')), length: count };
        const uniforms = Float32Array.from({ length: count }, (_, row) => (row * 0.618) % 1);
        return { policy, rows, uniforms, temperature: 1 + i / 4, out: rowOutputs(rows) };
      });
      engine.act(jobs);
      for (const { policy, rows, uniforms, temperature, out } of jobs) {
        const alone = rowOutputs(rows);
        policy.act(rows, uniforms, temperature, alone);
        expect(out).toEqual(alone);
      }
      expect(new Set(jobs[0].out.action).size).toBeGreaterThan(1);
      if (kernel !== 'reference') expect(() => engine.act([jobs[0], jobs[0]])).toThrow(/repeats the policy of job 0/);
    }
  });

  it('gives values alone as it gives them with the rest', async () => {
    for (const kernel of kernels) {
      const policy = (await engineOf({ kernel, threads: 1 })).policy(shape, RandomStream.of(2));
      const rows = randomRows(shape, 77, 7, RandomStream.of(1));
      const out = rowOutputs(rows);
      policy.evaluate(rows, identity(77), 0, 77, out);
      const values = new Float32Array(77);
      policy.values(rows.state, 77, values);
      expect(values).toEqual(out.value);
    }
  });

  it.each(kernels)(
    'leaves the critic out where no values are asked for, and gives the rest as before (%s)',
    async (kernel) => {
      const engine = await engineOf({ kernel, threads: 1 });
      const policy = engine.policy(shape, RandomStream.of(2));
      const rows = randomRows(shape, 30, 7, RandomStream.of(3));
      const whole = rowOutputs(rows);
      policy.evaluate(rows, identity(30), 0, 30, whole);
      const { logp, entropy } = rowOutputs(rows);
      policy.evaluate(rows, identity(30), 0, 30, { logp, entropy });
      expect([logp, entropy]).toEqual([whole.logp, whole.entropy]);
      // The next call that asks for values has them again.
      const again = rowOutputs(rows);
      policy.evaluate(rows, identity(30), 0, 30, again);
      expect(again.value).toEqual(whole.value);
      expect(again.value?.some((value) => value !== 0)).toBe(true);
    },
  );

  it('gathers rows of its room as of any other columns, and refuses rows that are not there', async () => {
    for (const threads of [1, 2] as const) {
      const { room } = await engineOf({ kernel: 'simd', threads });
      for (const [count, width] of [
        [1, 3],
        [1300, 7],
        [700, 64],
      ]) {
        const list = RandomStream.of(count).shuffle(identity(count));
        const [from, into] = [0, 1].map(() => room.column(Float32Array, count * width));
        for (let i = 0; i < from.length; i++) from[i] = i;
        room.gather(into, from, list, count, width);
        const wanted = new Float32Array(count * width);
        plainRoom.gather(wanted, from, list, count, width);
        expect(Array.from(wanted.subarray(0, width))).toEqual(
          Array.from({ length: width }, (_, k) => list[0] * width + k),
        );
        expect(Array.from(into)).toEqual(Array.from(wanted));
        list[count - 1] = count;
        expect(() => room.gather(into, from, list, count, width)).toThrow(
          `row ${count} was asked for; there are rows 0 to ${count - 1}.`,
        );
      }
    }
  });

  it('lets several networks go forward at once as each would by itself, from its room or from elsewhere', async () => {
    const engine = await engineOf({ kernel: 'simd', threads: 2 });
    const networks = [5, 3].map((outputs) => engine.mlp(mlp(40, [9], outputs), RandomStream.of(outputs)));
    for (const room of [engine.room, plainRoom]) {
      const x = room.column(Float32Array, 150 * 40);
      for (let i = 0; i < x.length; i += 7) x[i] = i % 5;
      const alone = networks.map((network) => {
        const out = new Float32Array(150 * network.shape.outputs);
        network.forward(x, 150, out);
        return Array.from(out);
      });
      const jobs = networks.map((network) => ({
        mlp: network,
        x,
        rows: 150,
        out: room.column(Float32Array, 150 * network.shape.outputs),
      }));
      engine.forward(jobs);
      expect(jobs.map(({ out }) => Array.from(out))).toEqual(alone);
      expect(() => engine.forward([jobs[0], jobs[0]])).toThrow('a network goes forward twice at once');
      expect(() => engine.forward([{ ...jobs[0], out: jobs[1].out }])).toThrow('out has 450 entries');
    }
  });

  it('refuses what would read outside the columns, with the place and the numbers', async () => {
    const engine = await engineOf({ kernel: 'simd', threads: 1 });
    const policy = engine.policy(shape, RandomStream.of(2));
    const rows = randomRows(shape, 20, 7, RandomStream.of(1));
    const out = rowOutputs(rows);
    const evaluate = (some: Partial<typeof rows>, order = identity(20)) =>
      policy.evaluate({ ...rows, ...some }, order, 0, 20, out);
    expect(() =>
      evaluate(
        {},
        Int32Array.from(identity(20), (i) => i + 1),
      ),
    ).toThrow('order[19] is 20; there are rows 0 to 19.');
    expect(() => evaluate({ subset: rows.subset.map(() => 7) })).toThrow(
      'subset[0] is 7; a global action id must lie in 0 .. 6.',
    );
    expect(() => policy.act({ ...rows, obs: rows.obs.subarray(9) }, out.logp, 1, out)).toThrow(
      'column obs has 171 entries; these rows need 180.',
    );
    expect(() => policy.act(rows, out.logp, 0, out)).toThrow('temperature is 0; it must be above 0.');
    const job = { policy, rows, order: identity(20), from: 0, to: 20, settings: defaults };
    expect(() => engine.update([job, job])).toThrow('job 1 repeats a policy');
    expect(() => engine.update([{ ...job, to: 0 }])).toThrow('job 0 has rows 0 to 0');
  });

  it('trains a network by itself: outputs, gradients and Adam agree with the reference', async () => {
    const run = async (kernel: (typeof kernels)[number], threads: 1 | 2) => {
      const engine = await engineOf({ kernel, threads });
      const networks = [
        engine.mlp(mlp(7, [13, 6], 5), RandomStream.of(1)),
        engine.mlp(mlp(7, [], 5), RandomStream.of(2)),
      ];
      const optimizer = engine.adam(
        networks.map((network) => ({ mlp: network, group: { learningRate: 1e-2, weightDecay: 0.01 } })),
        defaults.adam,
      );
      const n = 150;
      const stream = RandomStream.of(9);
      const x = Float32Array.from({ length: n * 7 }, () => stream.normal());
      const seen: Float32Array[] = [];
      const norms: number[] = [];
      for (let step = 0; step < 3; step++) {
        for (const network of networks) {
          const y = new Float32Array(n * 5);
          const byInput = new Float32Array(n * 7);
          network.forward(x, n, y);
          seen.push(y);
          network.backward(
            y.map((v) => v / n),
            n,
            byInput,
          );
          seen.push(byInput, ...network.parameters.map((_, index) => network.gradient(index)));
        }
        norms.push(optimizer.step(0.5));
      }
      seen.push(...networks.flatMap((network) => network.parameters.map((_, index) => network.read(index))));
      return { seen, norms, save: networks.map((network) => network.save()) };
    };
    const wanted = await run('reference', 1);
    for (const kernel of ['relaxed', 'simd'] as const) {
      const got = await run(kernel, 1);
      got.seen.forEach((array, index) => {
        expect(distance(array, wanted.seen[index])).toBeLessThan(2e-5);
      });
      got.norms.forEach((norm, index) => {
        expect(norm).toBeCloseTo(wanted.norms[index], 5);
      });
      expect(await run(kernel, 2)).toEqual(got);
    }
  });
});
