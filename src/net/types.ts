/** The interface of the compute room. All columns are plain typed arrays; an action is always an index into its row's own candidates, never a global id. */
import type { LossSettings } from '../algorithms/ppo/loss.ts';
import type { Actions } from '../distributions/distribution.ts';
import type { RandomStream } from '../math/random.ts';

export type Activation = 'tanh' | 'relu';

/** `auto` takes the fastest that this machine validates; `reference` is plain TypeScript in double precision. */
export type KernelName = 'auto' | 'relaxed' | 'simd' | 'reference';
/** Who runs the kernel: machine code of this CPU, or WebAssembly. `native` gives the bits of the relaxed kernel; `auto` takes it where it is there. */
export type EngineName = 'auto' | 'native' | 'wasm';

export interface MlpShape {
  inputs: number;
  /** Widths of the hidden layers, none to four of them. */
  hidden: readonly number[];
  outputs: number;
  activation: Activation;
  /** Gain of the orthogonal initialisation of the hidden layers; the square root of 2 when absent. */
  hiddenGain?: number;
  /** Gain of the last layer, after which nothing follows. */
  outputGain: number;
}

export interface PolicyShape {
  /** `fixed`: one logit per global action, gathered by a row's subset. `pointer`: one score per candidate from its features and the observation. */
  head: 'fixed' | 'pointer';
  /** With a pointer head the inputs are the observation followed by the features of one candidate, and there is one output. */
  actor: MlpShape;
  critic: MlpShape;
  /** Features per candidate; 0 with a fixed head. */
  features: number;
}

export interface GroupSettings {
  learningRate: number;
  weightDecay: number;
}

/** What a decision is made from. Ragged columns share `offsets`. */
export interface DecisionRows {
  length: number;
  /** length x observation. */
  obs: Float32Array;
  /** The critic's input, length x critic.inputs; may be the same array as `obs`. */
  state: Float32Array;
  /** length + 1 positions in `subset`, `legal` and (times features) `features`. */
  offsets: Int32Array;
  /** Global action ids; a pointer head does not read them. */
  subset: Int32Array;
  legal: Uint8Array;
  /** Features of each candidate; empty with a fixed head. */
  candidateFeatures: Float32Array;
}

/** Decisions as plain columns, with all that an update needs. */
export interface Rows extends DecisionRows {
  /** Index into the row's own candidates. */
  action: Actions;
  oldLogp: Float32Array;
  advantage: Float32Array;
  return: Float32Array;
  oldValue: Float32Array;
  /** Absent means 1 everywhere. All means of a loss are over the total weight. */
  weight?: Float32Array;
}

export interface UpdateSettings extends LossSettings {
  maxGradNorm: number | null;
  /** One norm over all parameters, or one for each of trunk, head and critic. */
  gradClip: 'global' | 'role';
  /** Divides the logits on the new path; 1 except in a probe. */
  temperature: number;
  /** Multiplies the advantages; 1 except in a probe. */
  advantageScale: number;
  groups: Record<Role, GroupSettings>;
  adam: { beta1: number; beta2: number; eps: number };
}

/** Filled from index 0, in the order of the rows that were asked for. */
export interface RowOutputs {
  logp: Float32Array;
  entropy: Float32Array;
  /** Without it the critic is left out, which saves its time. */
  value?: Float32Array;
  /** Local logits before temperature and mask, one row's candidates after the other's. */
  logits?: Float32Array;
}

export interface ActOutputs extends RowOutputs {
  action: Actions;
}

export type Role = 'trunk' | 'head' | 'critic';

export interface Parameter {
  /** `actor.0.weight`, `actor.head.bias`, `critic.0.weight` ... */
  name: string;
  role: Role;
  /** A weight is [out][in]. */
  shape: readonly number[];
  size: number;
}

/** What one step did to one parameter tensor. */
export interface TensorReport {
  /** After clipping, before weight decay. */
  gradNorm: number;
  /** How many entries of the gradient are not zero. */
  gradNonzero: number;
  /** Sum of the absolute changes. */
  delta: number;
  deltaNorm: number;
  /** Of the parameters after the step. */
  norm: number;
}

/** Figures of one step, all taken before it. Means are over the total weight. */
export interface StepReport {
  loss: number;
  policyLoss: number;
  valueLoss: number;
  entropy: number;
  k1: number;
  k2: number;
  k3: number;
  clipFraction: number;
  ratioMean: number;
  ratioStd: number;
  /** Over all parameters, before clipping. */
  gradNorm: number;
  /** Over the actor's parameters, before clipping. */
  policyGradNorm: number;
  valueGradNorm: number;
  /** False when the loss or the gradient was not finite; the parameters were then left as they were. */
  finite: boolean;
  /** By parameter, in the order of `Policy.parameters`, when asked for. */
  tensors?: TensorReport[];
}

/** Everything that a bit-identical continuation needs. */
export interface PolicySave {
  steps: number;
  values: Float32Array[];
  firstMoments: Float32Array[];
  secondMoments: Float32Array[];
}

export interface Policy {
  readonly shape: PolicyShape;
  readonly parameters: readonly Parameter[];
  /** Samples an action per row by inverse CDF over its candidates in order; uniforms lie in [0, 1). */
  act(rows: DecisionRows, uniforms: Float32Array, temperature: number, out: ActOutputs): void;
  /** Replays rows order[from .. to): the same figures, bit for bit, that `act` gave for the same action. */
  evaluate(rows: Rows, order: Int32Array, from: number, to: number, out: RowOutputs, temperature?: number): void;
  values(state: Float32Array, n: number, out: Float32Array): void;
  /** A copy of one parameter tensor; weights are [out][in]. */
  read(index: number): Float32Array;
  write(index: number, values: ArrayLike<number>): void;
  /** The gradient of the latest update, before clipping. */
  gradient(index: number): Float32Array;
  save(): PolicySave;
  load(save: PolicySave): void;
}

export interface UpdateJob {
  policy: Policy;
  rows: Rows;
  order: Int32Array;
  from: number;
  to: number;
  settings: UpdateSettings;
  /** Filled with the figures of these rows before the step. */
  out?: RowOutputs;
  /** Filled with the places 0 .. to - from of `out` in the order in which their rows lie in memory: whoever goes through the rows once more is fastest so. */
  visited?: Int32Array;
  measureTensors?: boolean;
}

/** What a network by itself is taught: the mean of a loss of its outputs, as `algorithms/hop/loss.ts` has them, over the rows that are not left out. */
export type MlpLoss =
  | { kind: 'bernoulli' | 'gaussian' /** n x outputs. */; targets: Float32Array }
  | {
      kind: 'choice';
      /** The right output of each row; -1 leaves the row out. */
      targets: Int32Array;
      /** Legal outputs of each row as bits; 0 allows all. */
      legal: Int32Array;
    };

/** A network by itself, for models. `backward` adds to the parameter gradients of the latest `forward`. */
export interface Mlp {
  readonly shape: MlpShape;
  readonly parameters: readonly Parameter[];
  /** x is n x inputs; fills n x outputs. */
  forward(x: Float32Array, n: number, out: Float32Array): void;
  /** gradOut is n x outputs; fills n x inputs where `gradIn` is given. */
  backward(gradOut: Float32Array, n: number, gradIn?: Float32Array): void;
  /** Forward, loss and backward in one: adds to the parameter gradients, fills `gradIn` where it is given, and returns the loss. */
  learn(x: Float32Array, n: number, loss: MlpLoss, gradIn?: Float32Array): number;
  read(index: number): Float32Array;
  write(index: number, values: ArrayLike<number>): void;
  gradient(index: number): Float32Array;
  save(): PolicySave;
  load(save: PolicySave): void;
}

/** Adam over the gradients that `backward` has accumulated; a step uses them up. */
export interface Optimizer {
  /** Clips by the norm over all members, steps and clears; returns the norm before clipping. A gradient that is not finite steps nothing. */
  step(maxGradNorm: number | null): number;
  /** Forgets accumulated gradients. */
  clear(): void;
}

export interface OptimizerMember {
  mlp: Mlp;
  group: GroupSettings;
}

/** What `act` of a policy takes, for several policies at once. */
export interface ActJob {
  readonly policy: Policy;
  readonly rows: DecisionRows;
  readonly uniforms: Float32Array;
  readonly temperature: number;
  readonly out: ActOutputs;
}

/** What `forward` of a network takes, for several networks at once. */
export interface ForwardJob {
  readonly mlp: Mlp;
  readonly x: Float32Array;
  readonly rows: number;
  readonly out: Float32Array;
  readonly choices?: Choices;
}

/** Where the probabilities of outputs that are the logits of a choice go. */
export interface Choices {
  /** Legal outputs of each row as bits: 0 allows all, and -1 gives zeros. */
  readonly legal: Int32Array;
  readonly shares: Float32Array;
  /** From the probabilities of one row to those of the next. */
  readonly stride: number;
}

/** A kind of typed array. */
export interface ColumnKind<T> {
  new (length: number): T;
  readonly BYTES_PER_ELEMENT: number;
}

/** Where columns are made, filled with zeros. */
export interface Room {
  column<T extends ArrayBufferView>(kind: ColumnKind<T>, length: number): T;
  /** Row i of `into` becomes row list[i] of `from`, for i below `count`; a row has `width` values. */
  gather(into: Float32Array, from: Float32Array, list: Int32Array, count: number, width: number): void;
}

export const plainRoom: Room = {
  column: (kind, length) => new kind(length),
  gather(into, from, list, count, width) {
    for (let i = 0, end = 0; i < count; i = end) {
      // Rows that follow one another are copied together.
      for (end = i + 1; end < count && list[end] === list[i] + end - i; ) end++;
      const start = list[i] * width;
      const values = (end - i) * width;
      if (values >= 48) into.set(from.subarray(start, start + values), i * width);
      else for (let k = 0; k < values; k++) into[i * width + k] = from[start + k];
    }
  },
};

/**
 * What computes: networks, decisions and optimiser steps, on one thread or two.
 *
 * @example
 * const engine: Engine = await createEngine();
 * await train({ game: 'echo' }, { engine });
 * engine.dispose();
 */
export interface Engine {
  /** The kernel in use. */
  readonly kernel: Exclude<KernelName, 'auto'>;
  readonly engine: Exclude<EngineName, 'auto'> | 'reference';
  readonly threads: number;
  policy(shape: PolicyShape, stream: RandomStream): Policy;
  mlp(shape: MlpShape, stream: RandomStream): Mlp;
  adam(members: readonly OptimizerMember[], settings: { beta1: number; beta2: number; eps: number }): Optimizer;
  /** The decisions of several policies, which must differ: the same as each policy's own `act`, with more for every thread to do. */
  act(jobs: readonly ActJob[]): void;
  /** Several networks, which must differ, go forward: the same as each one's own `forward`, with more for every thread to do. */
  forward(jobs: readonly ForwardJob[]): void;
  /** One step per job. The jobs' policies must differ; the result does not depend on the number of threads. */
  update(jobs: readonly UpdateJob[]): StepReport[];
  /** Columns that are made here are read where they lie; others are copied at every call. Keep a column itself, not only a part of it: its memory is used again once it is gone. */
  readonly room: Room;
  dispose(): void;
}

export interface EngineOptions {
  kernel?: KernelName;
  /** Changes how long it takes, and no bit of the results. */
  engine?: EngineName;
  /** 1, or 2 where the machine has shared memory and two cores; the results are the same. */
  threads?: 1 | 2;
}
