/** A network with its optimiser and its rows: what every module is made of. Inputs are cleared by `begin`, because features are mostly zeros. */
import { RandomStream } from '../../../math/random.ts';
import type { Choices, Engine, ForwardJob, Mlp, MlpLoss, Optimizer, PolicySave } from '../../../net/types.ts';

export const modelAdam = { beta1: 0.9, beta2: 0.999, eps: 1e-6 };
/** The longest gradient of a module that is let through. */
const maxGradNorm = 1;

/** A rate that settles stays for the first steps, then falls as their number grows, to a tenth. */
const quick = 100;
const slowest = 0.1;

export interface ModelRate {
  readonly learningRate: number;
  readonly settles: boolean;
}

export interface ModelShape {
  readonly inputs: number;
  readonly hidden: readonly number[];
  readonly outputs: number;
}

let zeros = new Float32Array(0);

/** Sets the first values to 0. Columns of an engine's room are copied to faster than they are filled. */
export function clear(column: Float32Array, count: number): void {
  if (zeros.length < count) zeros = new Float32Array(2 * count);
  column.set(zeros.subarray(0, count));
}

export class Model {
  readonly mlp: Mlp;
  /** Rows of inputs, outputs and the loss's gradient by the outputs, where the engine reads and writes them. */
  x: Float32Array = new Float32Array(0);
  y: Float32Array = new Float32Array(0);
  gradient: Float32Array = new Float32Array(0);
  private readonly optimizer: Optimizer;
  private readonly group = { learningRate: 0, weightDecay: 0 };
  private steps = 0;

  constructor(
    private readonly engine: Engine,
    readonly shape: ModelShape,
    private readonly rate: ModelRate,
    seed: number,
    ...name: (string | number)[]
  ) {
    this.mlp = engine.mlp(
      { ...shape, activation: 'tanh', outputGain: 0.1 },
      RandomStream.of(seed, 'initialise', 'hop', ...name),
    );
    this.optimizer = engine.adam([{ mlp: this.mlp, group: this.group }], modelAdam);
  }

  /** Makes room for so many rows, with inputs of 0. */
  begin(rows: number): Float32Array {
    const { inputs, outputs } = this.shape;
    this.reserve(rows * outputs);
    if (this.x.length < rows * inputs) this.x = this.column(rows * inputs, this.x);
    else clear(this.x, rows * inputs);
    return this.x;
  }

  /** Of the rows that were begun, or of rows that several networks share. */
  forward(rows: number, x: Float32Array = this.x): Float32Array {
    this.reserve(rows * this.shape.outputs);
    this.mlp.forward(x, rows, this.y);
    return this.y;
  }

  /** A part of a pass of several networks at once, of the rows that were begun or of rows that they share; `y` is filled. */
  job(rows: number, x: Float32Array = this.x, choices?: Choices): ForwardJob {
    this.reserve(rows * this.shape.outputs);
    return { mlp: this.mlp, x, rows, out: this.y, choices };
  }

  private reserve(outputs: number): void {
    if (this.y.length >= outputs) return;
    this.y = this.column(outputs, this.y);
    this.gradient = this.column(outputs, this.gradient);
  }

  /** At least twice as long as the one that it replaces, so that numbers of rows that rise by a few do not make one each time. */
  private column(length: number, before: Float32Array): Float32Array {
    return this.engine.room.column(Float32Array, Math.max(length, 2 * before.length));
  }

  /** One optimiser step on the rows that were begun, or on rows that several networks share; returns the loss. */
  learn(rows: number, loss: MlpLoss, x: Float32Array = this.x): number {
    if (rows === 0) return 0;
    const value = this.mlp.learn(x, rows, loss);
    this.step();
    return value;
  }

  /** Takes one step with the gradients that `backward` has gathered. */
  step(): void {
    const { learningRate, settles } = this.rate;
    this.steps++;
    this.group.learningRate = learningRate * (settles ? Math.max(slowest, Math.min(1, quick / this.steps)) : 1);
    this.optimizer.step(maxGradNorm);
  }

  /** Forgets gradients that were gathered on the way to another network. */
  forget(): void {
    this.optimizer.clear();
  }

  save(): PolicySave {
    return this.mlp.save();
  }

  load(saved: PolicySave): void {
    this.mlp.load(saved);
    this.steps = saved.steps;
  }
}
