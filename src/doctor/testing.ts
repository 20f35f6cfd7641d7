/** A tiny honest trainer for tests: real sampling, credit, surrogate gradients and Adam on a policy that is one bias per action. It hands out tables, so that a test can spoil one column and nothing else. */
import { logProbability } from '../math/local-policy.ts';
import { RandomStream } from '../math/random.ts';
import type { Manifest } from '../recording/manifest.ts';
import { emptyTables, lists, numbers, type TestColumn, type TestTables } from './testing-tables.ts';

export interface SimulationOptions {
  seed?: number;
  iterations?: number;
  agents?: number;
  envs?: number;
  length?: number;
  rollout?: number;
  epochs?: number;
  minibatches?: number;
  learningRate?: number;
  entropyCoefficient?: number;
  normalisation?: 'batch' | 'minibatch' | 'none';
  shared?: boolean;
}

const actions = 8;
const gamma = 0.95;
const lambda = 0.9;
const clip = 0.2;

class Policy {
  readonly bias = new Float64Array(actions);
  value = 0;
  private readonly first = new Float64Array(actions + 1);
  private readonly second = new Float64Array(actions + 1);
  private steps = 0;

  /** One step of Adam; returns the change of every parameter. */
  step(gradient: Float64Array, rate: number): Float64Array {
    this.steps++;
    return gradient.map((g, i) => {
      this.first[i] = 0.9 * this.first[i] + 0.1 * g;
      this.second[i] = 0.999 * this.second[i] + 0.001 * g * g;
      const m = this.first[i] / (1 - 0.9 ** this.steps);
      const v = this.second[i] / (1 - 0.999 ** this.steps);
      const change = (-rate * m) / (Math.sqrt(v) + 1e-8);
      if (i < actions) this.bias[i] += change;
      else this.value += change;
      return change;
    });
  }
}

export function simulate(options: SimulationOptions = {}): { tables: TestTables; manifest: Manifest } {
  const settings = {
    seed: 1,
    iterations: 4,
    agents: 2,
    envs: 6,
    length: 9,
    rollout: 20,
    epochs: 3,
    minibatches: 2,
    learningRate: 0.02,
    entropyCoefficient: 0.01,
    normalisation: 'batch' as const,
    shared: false,
    ...options,
  };
  const tables = emptyTables();
  const policies = Array.from({ length: settings.shared ? 1 : settings.agents }, () => new Policy());
  const world = new World(settings, RandomStream.of(settings.seed, 'simulate'));
  for (let iteration = 0; iteration < settings.iterations; iteration++) {
    const from = tables.samples.t.length;
    world.collect(tables, policies, iteration);
    assign(tables.samples, from);
    new Update(tables, settings, policies, iteration, from).run(RandomStream.of(settings.seed, 'update', iteration));
  }
  return { tables, manifest: declared(settings, policies.length) };
}

type Settings = Required<SimulationOptions>;

/** Environments that pay for low ids at odd steps; an episode ends by its rules or at its limit. */
class World {
  private readonly t: Int32Array;
  private readonly episode: Int32Array;
  private episodes = 0;

  constructor(
    private readonly settings: Settings,
    private readonly stream: RandomStream,
  ) {
    this.t = new Int32Array(settings.envs);
    this.episode = new Int32Array(settings.envs).map(() => this.episodes++);
  }

  collect({ samples }: TestTables, policies: Policy[], iteration: number): void {
    const { settings, stream } = this;
    const push = (name: string, value: number | number[]) => (samples[name] as (number | number[])[]).push(value);
    for (let step = 0; step < settings.rollout; step++) {
      for (let env = 0; env < settings.envs; env++) {
        const t = this.t[env];
        const terminated = t >= 3 && stream.uniform() < 0.1 ? 1 : 0;
        const truncated = !terminated && t === settings.length - 1 ? 1 : 0;
        for (let agent = 0; agent < settings.agents; agent++) {
          const policy = policies[settings.shared ? 0 : agent];
          const count = 3 + stream.below(4);
          const subset = Array.from(
            stream.shuffle(Int32Array.from({ length: actions }, (_, i) => i)).subarray(0, count),
          );
          const legal = subset.map(() => (stream.uniform() < 0.8 ? 1 : 0));
          legal[stream.below(count)] = 1;
          const logits = subset.map((id) => Math.fround(policy.bias[id] + 0.7 * stream.normal()));
          const weights = logits.map((z, i) => (legal[i] ? Math.exp(z) : 0));
          let left = stream.uniform() * weights.reduce((sum, w) => sum + w, 0);
          let action = legal.indexOf(1);
          for (let i = 0; i < count; i++) {
            if (!legal[i]) continue;
            action = i;
            left -= weights[i];
            if (left < 0) break;
          }
          const reward = Math.fround(
            (t % 2 ? 1 : -1) * (subset[action] / actions - 0.5) + 0.1 * stream.normal() + 0.2 * agent,
          );
          const value = Math.fround(policy.value + 0.3 * stream.normal());
          push('iteration', iteration);
          push('episode', this.episode[env]);
          push('t', t);
          push('agent', agent);
          push('env', env);
          push('old_logp', Math.fround(logProbability(logits, null, legal, action)));
          push('action', action);
          push('num_actions', count);
          push('subset', subset);
          push('legal', legal);
          push('logits', logits);
          push('temperature', 1);
          push('reward', reward);
          push('env_reward', reward);
          push('terminated', terminated);
          push('truncated', truncated);
          push('value', value);
          push(
            'next_value',
            truncated || step === settings.rollout - 1 ? Math.fround(policy.value + 0.3 * stream.normal()) : Number.NaN,
          );
          push('advantage', 0);
          push('return', 0);
          push('group', subset[action] % 3);
        }
        this.t[env]++;
        if (!terminated && !truncated) continue;
        this.t[env] = 0;
        this.episode[env] = this.episodes++;
      }
    }
  }
}

/** Credit as the books write it, row by row from the last to the first. */
function assign(samples: TestTables['samples'], from: number): void {
  const [episode, agent, reward, value, next, terminated, truncated, advantage, target] = [
    'episode',
    'agent',
    'reward',
    'value',
    'next_value',
    'terminated',
    'truncated',
    'advantage',
    'return',
  ].map((name) => numbers(samples, name));
  const later = new Map<string, number>();
  for (let i = episode.length - 1; i >= from; i--) {
    const key = `${episode[i]} ${agent[i]}`;
    const after = later.get(key);
    const ended = terminated[i] === 1 || truncated[i] === 1;
    const boot = terminated[i] ? 0 : ended || after === undefined ? next[i] : value[after];
    const carried = ended || after === undefined ? 0 : advantage[after];
    advantage[i] = Math.fround(reward[i] + gamma * boot - value[i] + gamma * lambda * carried);
    target[i] = Math.fround(advantage[i] + value[i]);
    later.set(key, i);
  }
}

class Update {
  private readonly count: number;

  constructor(
    private readonly tables: TestTables,
    private readonly settings: Settings,
    private readonly policies: Policy[],
    private readonly iteration: number,
    private readonly from: number,
  ) {
    this.count = tables.samples.t.length - from;
  }

  run(stream: RandomStream): void {
    const { settings, tables } = this;
    const agent = numbers(tables.samples, 'agent');
    this.policies.forEach((policy, index) => {
      const start = Float64Array.from(policy.bias);
      const startValue = policy.value;
      const rows = Array.from({ length: this.count }, (_, i) => i).filter(
        (i) => settings.shared || agent[this.from + i] === index,
      );
      const normal = this.normalised(rows);
      const order = Int32Array.from(rows, (_, i) => i);
      for (let epoch = 0; epoch < settings.epochs; epoch++) {
        stream.shuffle(order);
        for (let minibatch = 0; minibatch < settings.minibatches; minibatch++) {
          const low = Math.floor((order.length * minibatch) / settings.minibatches);
          const high = Math.floor((order.length * (minibatch + 1)) / settings.minibatches);
          const chosen = Array.from(order.subarray(low, high), (i) => rows[i]);
          const own = settings.normalisation === 'minibatch' ? this.normalised(chosen) : normal;
          this.step(policy, index, epoch, minibatch, chosen, own, start, startValue);
        }
      }
    });
  }

  private normalised(rows: number[]): Map<number, number> {
    const advantage = numbers(this.tables.samples, 'advantage');
    const values = rows.map((row) => advantage[this.from + row]);
    if (this.settings.normalisation === 'none') return new Map(rows.map((row, i) => [row, values[i]]));
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const std = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
    return new Map(rows.map((row, i) => [row, Math.fround((values[i] - mean) / (std + 1e-8))]));
  }

  /** One optimiser step on the surrogate, the entropy bonus and the squared error of the value. */
  private step(
    policy: Policy,
    index: number,
    epoch: number,
    minibatch: number,
    rows: number[],
    advantages: Map<number, number>,
    start: Float64Array,
    startValue: number,
  ): void {
    const { samples, replays, steps, tensors } = this.tables;
    const put = (table: Record<string, TestColumn>, values: Record<string, number | number[]>) => {
      for (const [name, value] of Object.entries(values)) (table[name] as (number | number[])[]).push(value);
    };
    const n = rows.length;
    const gradient = new Float64Array(actions + 1);
    const push = new Float64Array(actions);
    const sums = { policy: 0, value: 0, entropy: 0, kl: 0, clipped: 0 };
    const logitsOf = (row: number) => {
      const subset = lists(samples, 'subset')[this.from + row];
      return lists(samples, 'logits')[this.from + row].map((z, i) =>
        Math.fround(z + policy.bias[subset[i]] - start[subset[i]]),
      );
    };
    const first = replays.sample.length;
    for (const row of rows) {
      const at = this.from + row;
      const subset = lists(samples, 'subset')[at];
      const legal = lists(samples, 'legal')[at];
      const action = numbers(samples, 'action')[at];
      const logits = logitsOf(row);
      const logps = logits.map((_, i) => logProbability(logits, null, legal, i));
      const p = logps.map(Math.exp);
      const entropy = logps.reduce((sum, logp, i) => sum - (p[i] > 0 ? p[i] * logp : 0), 0);
      const old = numbers(samples, 'old_logp')[at];
      const fresh = Math.fround(logps[action]);
      const ratio = Math.exp(fresh - old);
      const a = advantages.get(row)!;
      const bounded = Math.max(1 - clip, Math.min(1 + clip, ratio));
      const free = ratio * a <= bounded * a;
      const value = Math.fround(numbers(samples, 'value')[at] + policy.value - startValue);
      const target = numbers(samples, 'return')[at];
      subset.forEach((id, i) => {
        const surrogate = free ? -(a * ratio * ((i === action ? 1 : 0) - p[i])) / n : 0;
        const bonus = p[i] > 0 ? (this.settings.entropyCoefficient * p[i] * (logps[i] + entropy)) / n : 0;
        gradient[id] += surrogate + bonus;
        push[id] += surrogate + bonus;
      });
      gradient[actions] += (0.5 * 2 * (value - target)) / n;
      sums.policy -= Math.min(ratio * a, bounded * a) / n;
      sums.value += (value - target) ** 2 / n;
      sums.entropy += entropy / n;
      sums.kl += (ratio - 1 - Math.log(ratio)) / n;
      sums.clipped += Math.abs(ratio - 1) > clip ? 1 / n : 0;
      put(replays, {
        iteration: this.iteration,
        epoch,
        minibatch,
        sample: row,
        policy: index,
        new_logp: fresh,
        old_logp: old,
        advantage: a,
        entropy: Math.fround(entropy),
        value,
        return: target,
        weight: 1,
        logits,
        subset: [...subset],
        legal: [...legal],
        temperature: 1,
        again_logp: fresh,
      });
    }
    const rate = this.settings.learningRate;
    const change = policy.step(gradient, rate);
    let moved = 0;
    rows.forEach((row, i) => {
      const at = this.from + row;
      const logits = logitsOf(row);
      moved +=
        logits.reduce((sum, z, k) => sum + (z - lists(replays, 'logits')[first + i][k]) ** 2, 0) / logits.length / n;
      numbers(replays, 'after_logp').push(
        Math.fround(logProbability(logits, null, lists(samples, 'legal')[at], numbers(samples, 'action')[at])),
      );
    });
    const length = (values: Float64Array) => Math.sqrt(values.reduce((sum, value) => sum + value * value, 0));
    const parts: [number, Float64Array, Float64Array, number][] = [
      [2 * index, gradient.subarray(0, actions), change.subarray(0, actions), length(policy.bias)],
      [2 * index + 1, gradient.subarray(actions), change.subarray(actions), Math.abs(policy.value)],
    ];
    for (const [tensor, g, d, norm] of parts)
      put(tensors, {
        iteration: this.iteration,
        epoch,
        minibatch,
        tensor,
        grad_norm: length(g),
        grad_nonzero: g.filter((x) => x !== 0).length,
        delta: d.reduce((sum, x) => sum + Math.abs(x), 0),
        delta_norm: length(d),
        norm,
        learning_rate: rate,
        weight_decay: 0,
        bound: 1,
      });
    put(steps, {
      iteration: this.iteration,
      epoch,
      minibatch,
      policy: index,
      policy_loss: sums.policy,
      value_loss: sums.value,
      entropy: sums.entropy,
      loss: sums.policy + 0.5 * sums.value - this.settings.entropyCoefficient * sums.entropy,
      approx_kl: sums.kl,
      clip_fraction: sums.clipped,
      grad_norm: length(gradient),
      policy_grad_norm: length(push),
      value_grad_norm: Math.abs(gradient[actions]),
      learning_rate: rate,
      skipped: 0,
      stopped: 0,
      delta_logits: Math.sqrt(moved),
      embed_std: 1,
    });
  }
}

function declared(settings: Settings, policies: number): Manifest {
  return {
    format: 'trueline/1',
    agents: Array.from({ length: settings.agents }, (_, i) => ({
      name: `agent-${i}`,
      policy: settings.shared ? 0 : i,
    })),
    policies: Array.from({ length: policies }, (_, i) => ({ name: `policy-${i}` })),
    tensors: Array.from({ length: policies }, (_, policy) => [
      { name: 'actor.head.bias', policy, role: 'head' as const, size: actions },
      { name: 'critic.bias', policy, role: 'critic' as const, size: 1 },
    ]).flat(),
    settings: {
      gamma,
      lambda,
      clip,
      epochs: settings.epochs,
      minibatches: settings.minibatches,
      learning_rate: settings.learningRate,
      entropy_coefficient: settings.entropyCoefficient,
      value_coefficient: 0.5,
      advantage_normalisation: settings.normalisation,
      optimizer: { name: 'adam', betas: [0.9, 0.999], eps: 1e-8 },
    },
  };
}
