/** Our side of the comparison with PyTorch: the engine's update and forward pass, and the real trainer on a game that costs nothing. */
import type { Game, GameShape } from '../../src/games/game.ts';
import { RandomStream } from '../../src/math/random.ts';
import {
  type ActOutputs,
  type ColumnKind,
  type Engine,
  type PolicyShape,
  plainRoom,
  type Room,
  type Rows,
  type UpdateSettings,
} from '../../src/net/types.ts';
import type { SettingsInput } from '../../src/training/settings.ts';
import { Trainer } from '../../src/training/trainer.ts';
import { actions, type Loop, observation } from './sizes.ts';

const group = { learningRate: 1e-3, weightDecay: 0 };
const settings: UpdateSettings = {
  clip: 0.2,
  valueCoefficient: 0.5,
  entropyCoefficient: 0.01,
  valueLoss: 'mse',
  huberDelta: 1,
  valueClip: null,
  maxGradNorm: 0.5,
  gradClip: 'global',
  temperature: 1,
  advantageScale: 1,
  groups: { trunk: group, head: group, critic: group },
  adam: { beta1: 0.9, beta2: 0.999, eps: 1e-5 },
};

function shape(hidden: readonly number[]): PolicyShape {
  const common = { inputs: observation, hidden, activation: 'tanh' as const };
  return {
    head: 'fixed',
    features: 0,
    actor: { ...common, outputs: actions, outputGain: 0.01 },
    critic: { ...common, outputs: 1, outputGain: 1 },
  };
}

/** A quarter of the actions is illegal, never the first, which is the one that was taken. Columns lie where a trainer has them made, in the engine's room. */
function madeUpRows(room: Room, length: number): Rows {
  const stream = RandomStream.of(2, 'bench', 'rows');
  const filled = <T extends Float32Array | Int32Array | Uint8Array>(
    kind: ColumnKind<T>,
    count: number,
    value: (i: number) => number,
  ) => {
    const made = room.column(kind, count);
    for (let i = 0; i < count; i++) made[i] = value(i);
    return made;
  };
  const normals = (count: number) => filled(Float32Array, count, () => stream.normal());
  const obs = normals(length * observation);
  return {
    length,
    obs,
    state: obs,
    offsets: filled(Int32Array, length + 1, (i) => i * actions),
    subset: filled(Int32Array, length * actions, (i) => i % actions),
    legal: filled(Uint8Array, length * actions, (i) => (i % actions === 0 || stream.uniform() >= 0.25 ? 1 : 0)),
    candidateFeatures: room.column(Float32Array, 0),
    action: room.column(Int32Array, length),
    oldLogp: filled(Float32Array, length, () => -2),
    advantage: normals(length),
    return: normals(length),
    oldValue: room.column(Float32Array, length),
  };
}

/** Gives the seconds per optimiser step on a minibatch gathered out of four times as many rows. */
export function ourUpdate(engine: Engine, size: number, hidden: readonly number[], repeat: number): () => number {
  const rows = madeUpRows(engine.room, 4 * size);
  const policy = engine.policy(shape(hidden), RandomStream.of(1, 'bench'));
  const order = RandomStream.of(3, 'bench').shuffle(Int32Array.from({ length: rows.length }, (_, i) => i));
  return () => {
    const begun = performance.now();
    for (let i = 0; i < repeat; i++) {
      const from = (i % 4) * size;
      engine.update([{ policy, rows, order, from, to: from + size, settings }]);
    }
    return (performance.now() - begun) / 1000 / repeat;
  };
}

/** A few steps on a few rows as plain numbers, for a program that is to come to the same parameters. */
export function sampleSteps(engine: Engine, hidden: readonly number[], count: number, steps: number) {
  const rows = madeUpRows(engine.room, count);
  const policy = engine.policy(shape(hidden), RandomStream.of(5, 'bench'));
  const order = Int32Array.from({ length: count }, (_, i) => i);
  const parameters = () => policy.parameters.map((_, i) => Array.from(policy.read(i)));
  const before = parameters();
  for (let i = 0; i < steps; i++) engine.update([{ policy, rows, order, from: 0, to: count, settings }]);
  const { obs, legal, action, oldLogp, advantage, return: returns } = rows;
  const columns = Object.entries({ obs, legal, action, oldLogp, advantage, returns });
  const plain = Object.fromEntries(columns.map(([name, values]) => [name, Array.from(values)]));
  return { ...plain, inputs: observation, hidden, rows: count, steps, before, after: parameters() };
}

/** Gives the seconds for the decisions of a few rows: action, log-probability and value. */
export function ourForward(engine: Engine, count: number, hidden: readonly number[], repeat: number): () => number {
  const rows = madeUpRows(engine.room, count);
  const policy = engine.policy(shape(hidden), RandomStream.of(1, 'bench'));
  const stream = RandomStream.of(4, 'bench');
  const uniforms = Float32Array.from({ length: count }, () => stream.uniform() * 0.999);
  const floats = () => new Float32Array(count);
  const out: ActOutputs = { action: new Int32Array(count), logp: floats(), entropy: floats(), value: floats() };
  return () => {
    const begun = performance.now();
    for (let i = 0; i < repeat; i++) policy.act(rows, uniforms, 1, out);
    return (performance.now() - begun) / 1000 / repeat;
  };
}

/** Everything was drawn beforehand: a step only shows the next frame. Episodes never end. */
export class StillGame implements Game {
  readonly name = 'still';
  readonly settings = {};
  readonly shape: GameShape;
  readonly acting: Uint8Array;
  readonly numActions: Int32Array;
  readonly subset: Int32Array;
  readonly candidateFeatures = new Float32Array(0);
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;
  readonly state: Float32Array;
  readonly over: Uint8Array;
  obs: Float32Array;
  legal: Uint8Array;
  reward: Float32Array;
  private readonly frames: { observation: Float32Array; legal: Uint8Array; reward: Float32Array }[];
  private time = 0;

  constructor(
    readonly worlds: number,
    seats: number,
    frames: number,
  ) {
    const places = worlds * seats;
    this.shape = {
      seats,
      observation,
      state: seats * observation,
      actions,
      candidates: actions,
      features: 0,
      horizon: 2 ** 30,
    };
    const rows = madeUpRows(plainRoom, places * frames);
    this.frames = Array.from({ length: frames }, (_, t) => ({
      observation: rows.obs.slice(t * places * observation, (t + 1) * places * observation),
      legal: rows.legal.slice(t * places * actions, (t + 1) * places * actions),
      reward: rows.advantage.slice(t * places, (t + 1) * places),
    }));
    ({ observation: this.obs, legal: this.legal, reward: this.reward } = this.frames[0]);
    this.acting = new Uint8Array(places).fill(1);
    this.numActions = new Int32Array(places).fill(actions);
    this.subset = rows.subset.slice(0, places * actions);
    this.terminated = new Uint8Array(places);
    this.truncated = new Uint8Array(places);
    this.state = new Float32Array(places * observation);
    this.over = new Uint8Array(worlds);
  }

  reset(): void {}

  step(): void {
    this.time = (this.time + 1) % this.frames.length;
    ({ observation: this.obs, legal: this.legal, reward: this.reward } = this.frames[this.time]);
  }

  save(): number[] {
    return [this.time];
  }

  load(_world: number, saved: readonly number[]): void {
    this.time = saved[0];
  }
}

/** All agents share one policy, so that a minibatch holds the rows of all of them. */
export function loopTrainer(engine: Engine, loop: Loop, hidden: number[], more: SettingsInput = {}): Trainer {
  const { worlds, seats, steps, epochs, minibatches } = loop;
  const input: SettingsInput = {
    game: 'still',
    worlds,
    rollout: steps,
    steps: 1e12,
    sharing: 'shared',
    network: { hidden },
    ...more,
    ppo: { epochs, minibatches, ...more.ppo },
  };
  return new Trainer(input, { engine, game: (count) => new StillGame(count, seats, steps) });
}

/** The compiler has seen every function by then; a training run has hundreds of iterations. */
const coldIterations = 8;

/** With the guard off, no recording and the critic in the units of the rewards, as the program in PyTorch has it. */
export function ourLoop(engine: Engine, loop: Loop, hidden: number[]): () => Promise<number> {
  const trainer = loopTrainer(engine, loop, hidden, { guard: 'off', ppo: { valueNormalisation: false } });
  let cold = coldIterations;
  return async () => {
    for (; cold > 0; cold--) await trainer.iterate();
    const begun = performance.now();
    await trainer.iterate();
    return (performance.now() - begun) / 1000;
  };
}
