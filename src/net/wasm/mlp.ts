/** A network by itself in the kernels' memory, and Adam for such networks. Activations stay from `forward` to `backward`. */
import type { RandomStream } from '../../math/random.ts';
import { checkMlpShape, initialValues, mlpParameters } from '../parameters.ts';
import { checkTargets, clipScale } from '../report.ts';
import type { Choices, Mlp, MlpLoss, MlpShape, Optimizer, OptimizerMember, Parameter, PolicySave } from '../types.ts';
import type { Kernels } from './kernels.ts';
import { KernelNetwork, RESULTS } from './layout.ts';
import { Region } from './memory.ts';
import { put, take } from './staging.ts';
import { BLOCK, jobFields, LANES, lossKinds, passFields, taskKinds } from './structs.ts';

export class KernelMlp implements Mlp {
  readonly parameters: readonly Parameter[];
  readonly network: KernelNetwork;
  readonly buffers: { parameters: number; gradient: number; firstMoment: number; secondMoment: number };
  readonly shape: MlpShape;
  steps = 0;
  private readonly kernels: Kernels;
  private readonly bytes: number;
  private readonly pass: number;
  private readonly activations: Region;
  private readonly columns: Region;
  /** What is taught, and what the outputs and their gradients are meanwhile. */
  private readonly taught: Region;
  private readonly losses: number;
  private rows = 0;
  /** Whether gradients were gathered since the latest step. */
  private gathered = false;
  private shares: Choices | undefined;

  constructor(kernels: Kernels, shape: MlpShape, stream: RandomStream) {
    checkMlpShape(shape, 'the network');
    this.kernels = kernels;
    this.shape = shape;
    const { memory } = kernels;
    this.parameters = mlpParameters(shape, 'mlp', 'trunk', 'head');
    this.network = new KernelNetwork(kernels, shape, this.parameters);
    this.bytes = Math.ceil((this.network.floats * 4) / 64) * 64;
    const buffer = () => {
      const at = memory.allocate(this.bytes);
      memory.u8.fill(0, at, at + this.bytes);
      return at;
    };
    this.buffers = { parameters: buffer(), gradient: buffer(), firstMoment: buffer(), secondMoment: buffer() };
    this.network.place(this.buffers.parameters);
    this.activations = new Region(memory);
    this.columns = new Region(memory);
    this.taught = new Region(memory);
    this.losses = memory.allocate(LANES * 8);
    this.pass = memory.allocate(passFields.words * 4);
    const laneBytes = Math.ceil((this.network.laneFloats * 4) / 64) * 64;
    const lanes = memory.allocate(laneBytes * LANES);
    const words = memory.i32.subarray(this.pass >> 2);
    words[passFields.net] = this.network.at;
    words[passFields.lanes] = lanes;
    words[passFields.laneBytes] = laneBytes;
    words[passFields.gradient] = this.buffers.gradient;
    words[passFields.activationBytes] = this.network.activationBytes;
    words[passFields.losses] = this.losses;
    words[passFields.shares] = 0;
    initialValues(shape, stream).forEach((value, index) => {
      this.write(index, value);
    });
  }

  forward(x: Float32Array, n: number, out: Float32Array): void {
    const { threads } = this.kernels;
    this.enter(x, n, out);
    if (n === 0) return;
    threads.begin(this.blocks);
    this.addForward();
    threads.run();
    this.leave(out);
  }

  /** Puts rows before the kernels; they go forward by the tasks of `addForward`. */
  enter(x: Float32Array, n: number, out: Float32Array, choices?: Choices): void {
    const { inputs, outputs } = this.shape;
    const { memory } = this.kernels;
    this.rows = n;
    this.shares = choices;
    if (n === 0) return;
    if (x.length < n * inputs)
      throw new RangeError(`x has ${x.length} entries; ${n} rows of ${inputs} need ${n * inputs}.`);
    if (out.length < n * outputs)
      throw new RangeError(`out has ${out.length} entries; ${n} rows of ${outputs} need ${n * outputs}.`);
    const at = this.place(n, x, out);
    if (!memory.addressOf(x)) put(memory.f32, at.x, x, n * inputs);
    this.begin(n, at.x, at.y);
    if (choices) this.enterChoices(choices, n);
  }

  private begin(n: number, x: number, y: number): void {
    const { memory, threads } = this.kernels;
    const activations = this.activations.ensure(this.blocks * this.network.activationBytes);
    threads.ensureScratch(this.network.scratchBytes);
    const words = memory.i32;
    const pass = this.pass >> 2;
    words[pass + passFields.rows] = n;
    words[pass + passFields.x] = x;
    words[pass + passFields.y] = y;
    words[pass + passFields.activations] = activations;
    words[pass + passFields.shares] = 0;
  }

  private enterChoices({ legal, shares, stride }: Choices, n: number): void {
    const { memory } = this.kernels;
    const length = (n - 1) * stride + this.shape.outputs;
    if (legal.length < n || shares.length < length || stride < this.shape.outputs)
      throw new RangeError(
        `legal has ${legal.length} entries and shares ${shares.length}, ${stride} apart; ${n} rows of ${this.shape.outputs} outputs need ${n} and ${length}.`,
      );
    const there = memory.addressOf(shares);
    const own = this.taught.ensure(n * 4 + (there ? 0 : length * 4));
    put(memory.i32, own, legal, n);
    const pass = this.pass >> 2;
    memory.i32[pass + passFields.legal] = own;
    memory.i32[pass + passFields.shares] = there || own + n * 4;
    memory.i32[pass + passFields.stride] = stride;
  }

  /** Blocks of the rows that were entered, each of which is a task. */
  get blocks(): number {
    return Math.ceil(this.rows / BLOCK);
  }

  addForward(): void {
    for (let block = 0; block < this.blocks; block++) this.kernels.threads.add(taskKinds.passForward, this.pass, block);
  }

  /** Copies what came out, where it does not lie there already. */
  leave(out: Float32Array): void {
    const { memory } = this.kernels;
    const { shares } = this;
    if (shares && this.rows > 0 && !memory.addressOf(shares.shares)) {
      const from = memory.i32[(this.pass >> 2) + passFields.shares] >> 2;
      for (let row = 0; row < this.rows; row++)
        for (let c = 0, at = row * shares.stride; c < this.shape.outputs; c++, at++)
          shares.shares[at] = memory.f32[from + at];
    }
    if (!memory.addressOf(out))
      take(memory.f32, memory.i32[(this.pass >> 2) + passFields.y], out, this.rows * this.shape.outputs);
  }

  backward(gradOut: Float32Array, n: number, gradIn?: Float32Array): void {
    const { inputs, outputs } = this.shape;
    const { memory, threads } = this.kernels;
    if (n !== this.rows)
      throw new RangeError(
        `backward got ${n} rows after a forward of ${this.rows}; it goes back through the latest forward.`,
      );
    if (n === 0) return;
    if (gradOut.length < n * outputs) {
      throw new RangeError(`gradOut has ${gradOut.length} entries; ${n} rows of ${outputs} need ${n * outputs}.`);
    }
    if (gradIn && gradIn.length < n * inputs)
      throw new RangeError(`gradIn has ${gradIn.length} entries; ${n} rows of ${inputs} need ${n * inputs}.`);
    const at = this.place(n, gradIn, gradOut);
    if (!memory.addressOf(gradOut)) put(memory.f32, at.y, gradOut, n * outputs);
    const pass = this.pass >> 2;
    memory.i32[pass + passFields.gradOut] = at.y;
    memory.i32[pass + passFields.gradIn] = gradIn ? at.x : 0;
    threads.ensureScratch(this.network.scratchBytes);
    threads.begin(LANES);
    for (let lane = 0; lane < LANES; lane++) threads.add(taskKinds.passBackward, this.pass, lane);
    threads.run();
    this.gather();
    if (gradIn && !memory.addressOf(gradIn)) take(memory.f32, at.x, gradIn, n * inputs);
  }

  learn(x: Float32Array, n: number, loss: MlpLoss, gradIn?: Float32Array): number {
    const { inputs, outputs } = this.shape;
    const { memory, threads } = this.kernels;
    this.rows = n;
    if (n === 0) return 0;
    const counted = Math.max(1, checkTargets(loss, n, outputs));
    if (x.length < n * inputs || (gradIn && gradIn.length < n * inputs))
      throw new RangeError(`x and its gradient need ${n * inputs} entries for ${n} rows of ${inputs}.`);
    const there = { x: memory.addressOf(x), back: gradIn ? memory.addressOf(gradIn) : 0 };
    const column = n * outputs * 4;
    const y = this.taught.ensure(3 * column + n * 4 + 2 * n * inputs * 4);
    const [gradOut, targets, legal] = [y + column, y + 2 * column, y + 3 * column];
    const own = legal + n * 4;
    this.begin(n, there.x || own, y);
    const back = there.back || own + n * inputs * 4;
    if (!there.x) put(memory.f32, own, x, n * inputs);
    if (loss.kind === 'choice') {
      put(memory.i32, targets, loss.targets, n);
      put(memory.i32, legal, loss.legal, n);
    } else put(memory.f32, targets, loss.targets, n * outputs);
    const pass = this.pass >> 2;
    const words = memory.i32;
    words[pass + passFields.gradOut] = gradOut;
    words[pass + passFields.gradIn] = gradIn ? back : 0;
    words[pass + passFields.loss] = lossKinds[loss.kind];
    words[pass + passFields.targets] = targets;
    words[pass + passFields.legal] = legal;
    memory.f32[pass + passFields.share] = 1 / counted;
    threads.begin(LANES);
    for (let lane = 0; lane < LANES; lane++) threads.add(taskKinds.passLearn, this.pass, lane);
    threads.run();
    this.gather();
    if (gradIn && !there.back) take(memory.f32, back, gradIn, n * inputs);
    let sum = 0;
    for (let lane = 0; lane < LANES; lane++) sum += memory.f64[(this.losses >> 3) + lane];
    return sum / counted;
  }

  /** Adds the lanes' gradients to those that were gathered before. */
  private gather(): void {
    this.kernels.memory.i32[(this.pass >> 2) + passFields.add] = this.gathered ? 1 : 0;
    this.kernels.exports.passReduce(this.pass);
    this.gathered = true;
  }

  /** Where rows lie on the inputs' and on the outputs' side: in the engine's room, or in memory of their own. */
  private place(n: number, x: Float32Array | undefined, y: Float32Array): { x: number; y: number } {
    const { memory } = this.kernels;
    const there = { x: x ? memory.addressOf(x) : 0, y: memory.addressOf(y) };
    if (there.x && there.y) return there;
    const xBytes = Math.ceil((n * this.shape.inputs * 4 + 16) / 64) * 64;
    const own = this.columns.ensure(xBytes + n * this.shape.outputs * 4 + 16);
    return { x: there.x || own, y: there.y || own + xBytes };
  }

  clear(): void {
    this.gathered = false;
  }

  /** As the kernels noted it, tensor by tensor, when they gathered; a step reads the gradients next, so that without any they are zero. */
  squaredNorm(): number {
    const { results, pieces, floats } = this.network;
    const { f32, f64 } = this.kernels.memory;
    let sum = 0;
    if (this.gathered) for (let i = 0; i < pieces.length; i++) sum += f64[(results >> 3) + i * RESULTS];
    else f32.fill(0, this.buffers.gradient >> 2, (this.buffers.gradient >> 2) + floats);
    return sum;
  }

  read(index: number): Float32Array {
    return this.network.read(index);
  }

  write(index: number, values: ArrayLike<number>): void {
    this.network.write(index, values);
    this.kernels.exports.pack(this.network.at);
  }

  gradient(index: number): Float32Array {
    return this.gathered
      ? this.network.read(index, this.buffers.gradient)
      : new Float32Array(this.parameters[index].size);
  }

  save(): PolicySave {
    const all = (buffer: number) => this.parameters.map((_, index) => this.network.read(index, buffer));
    const { parameters, firstMoment, secondMoment } = this.buffers;
    return {
      steps: this.steps,
      values: all(parameters),
      firstMoments: all(firstMoment),
      secondMoments: all(secondMoment),
    };
  }

  load(save: PolicySave): void {
    this.parameters.forEach((_, index) => {
      this.write(index, save.values[index]);
      this.network.write(index, save.firstMoments[index], this.buffers.firstMoment);
      this.network.write(index, save.secondMoments[index], this.buffers.secondMoment);
    });
    this.steps = save.steps;
  }
}

export class KernelAdam implements Optimizer {
  private readonly kernels: Kernels;
  private readonly members: { mlp: KernelMlp; group: OptimizerMember['group'] }[];
  private readonly settings: { beta1: number; beta2: number; eps: number };
  private readonly job: number;

  constructor(
    kernels: Kernels,
    members: readonly OptimizerMember[],
    settings: { beta1: number; beta2: number; eps: number },
  ) {
    this.kernels = kernels;
    this.settings = settings;
    this.members = members.map(({ mlp, group }) => {
      if (!(mlp instanceof KernelMlp)) throw new TypeError('An optimizer got a network of another engine.');
      return { mlp, group };
    });
    this.job = kernels.memory.allocate(jobFields.words * 4);
  }

  step(maxGradNorm: number | null): number {
    const { exports } = this.kernels;
    let square = 0;
    for (const { mlp } of this.members) square += mlp.squaredNorm();
    const norm = Math.sqrt(square);
    if (!Number.isFinite(norm)) {
      this.clear();
      return norm;
    }
    const { f32, i32 } = this.kernels.memory;
    const at = this.job >> 2;
    const { beta1, beta2, eps } = this.settings;
    for (const { mlp, group } of this.members) {
      mlp.steps++;
      i32[at + jobFields.parameters] = mlp.buffers.parameters;
      i32[at + jobFields.gradient] = mlp.buffers.gradient;
      i32[at + jobFields.firstMoment] = mlp.buffers.firstMoment;
      i32[at + jobFields.secondMoment] = mlp.buffers.secondMoment;
      i32[at + jobFields.measure] = 0;
      f32[at + jobFields.beta1] = beta1;
      f32[at + jobFields.beta2] = beta2;
      f32[at + jobFields.oneLessBeta1] = 1 - beta1;
      f32[at + jobFields.oneLessBeta2] = 1 - beta2;
      f32[at + jobFields.eps] = eps;
      f32[at + jobFields.inverseRootCorrection] = 1 / Math.sqrt(1 - beta2 ** mlp.steps);
      for (let role = 0; role < 3; role++) {
        f32[at + jobFields.stepSize0 + role] = group.learningRate / (1 - beta1 ** mlp.steps);
        f32[at + jobFields.decay0 + role] = group.weightDecay;
        f32[at + jobFields.scale0 + role] = clipScale(norm, maxGradNorm);
      }
      exports.adamStep(this.job, mlp.network.at);
    }
    this.clear();
    return norm;
  }

  clear(): void {
    for (const { mlp } of this.members) mlp.clear();
  }
}
