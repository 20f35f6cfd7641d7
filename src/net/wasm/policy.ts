/** A policy in the kernels' memory. Parameters, gradients, moments and lanes are buffers of one layout, the actor's part before the critic's. */
import type { RandomStream } from '../../math/random.ts';
import { checkPolicyShape, initialValues, policyParameters } from '../parameters.ts';
import type {
  ActOutputs,
  DecisionRows,
  Parameter,
  Policy,
  PolicySave,
  PolicyShape,
  RowOutputs,
  Rows,
} from '../types.ts';
import type { Kernels } from './kernels.ts';
import { KernelNetwork } from './layout.ts';
import { Region } from './memory.ts';
import { type Columns, put, Stage, take } from './staging.ts';
import { FORWARD_ROWS, jobFields, MOST_LANES, STATISTICS, taskKinds } from './structs.ts';
import { Visit } from './visit.ts';

export class KernelPolicy implements Policy {
  readonly parameters: readonly Parameter[];
  readonly actor: KernelNetwork;
  readonly critic: KernelNetwork;
  /** Address of the job structure. */
  readonly job: number;
  readonly statistics: number;
  steps = 0;
  readonly shape: PolicyShape;
  private readonly kernels: Kernels;
  private readonly stage: Stage;
  private readonly outputs: Region;
  private readonly visit = new Visit();
  private readonly buffers: { parameters: number; gradient: number; firstMoment: number; secondMoment: number };
  /** Of the rows at work, in `outputs`. */
  private readonly at = {
    order: 0,
    place: 0,
    uniforms: 0,
    action: 0,
    logp: 0,
    entropy: 0,
    value: 0,
    offsets: 0,
    logits: 0,
    items: 0,
  };

  constructor(kernels: Kernels, shape: PolicyShape, stream: RandomStream) {
    checkPolicyShape(shape);
    this.shape = shape;
    this.kernels = kernels;
    const { memory } = kernels;
    this.stage = new Stage(memory, shape, kernels.engine === 'native');
    this.outputs = new Region(memory);
    this.parameters = policyParameters(shape);
    const actorCount = 2 * (shape.actor.hidden.length + 1);
    this.actor = new KernelNetwork(kernels, shape.actor, this.parameters.slice(0, actorCount), shape.features);
    this.critic = new KernelNetwork(kernels, shape.critic, this.parameters.slice(actorCount));
    const bytes = Math.ceil(((this.actor.floats + this.critic.floats) * 4) / 64) * 64;
    const buffer = () => {
      const at = memory.allocate(bytes);
      memory.u8.fill(0, at, at + bytes);
      return at;
    };
    this.buffers = { parameters: buffer(), gradient: buffer(), firstMoment: buffer(), secondMoment: buffer() };
    const laneBytes = Math.ceil(((this.actor.laneFloats + this.critic.laneFloats) * 4) / 64) * 64;
    const lanes = memory.allocate(laneBytes * MOST_LANES);
    this.statistics = memory.allocate(MOST_LANES * STATISTICS * 8);
    this.actor.place(this.buffers.parameters);
    this.critic.place(this.buffers.parameters + this.actor.floats * 4);
    this.job = memory.allocate(jobFields.words * 4);
    memory.u8.fill(0, this.job, this.job + jobFields.words * 4);
    const words = memory.i32.subarray(this.job >> 2);
    words[jobFields.actor] = this.actor.at;
    words[jobFields.critic] = this.critic.at;
    words[jobFields.parameters] = this.buffers.parameters;
    words[jobFields.gradient] = this.buffers.gradient;
    words[jobFields.firstMoment] = this.buffers.firstMoment;
    words[jobFields.secondMoment] = this.buffers.secondMoment;
    words[jobFields.lanes] = lanes;
    words[jobFields.laneBytes] = laneBytes;
    words[jobFields.statistics] = this.statistics;
    const values = [...initialValues(shape.actor, stream), ...initialValues(shape.critic, stream)];
    values.forEach((value, index) => {
      this.write(index, value);
    });
  }

  act(rows: DecisionRows, uniforms: Float32Array, temperature: number, out: ActOutputs): void {
    if (rows.length === 0) return;
    this.enterDecisions(rows, uniforms, temperature, out);
    this.forward(rows.length, true, true);
    this.leaveDecisions(rows, out);
  }

  /** Puts decisions before the kernels; they are made by the tasks of `addForward`. */
  enterDecisions(rows: DecisionRows, uniforms: Float32Array, temperature: number, out: ActOutputs): void {
    const n = rows.length;
    checkTemperature(temperature);
    const columns = this.stage.decisions(rows, { list: null, count: n });
    this.prepare(columns, n, out.logits ? rows.offsets[n] - rows.offsets[0] : 0, temperature);
    const { memory } = this.kernels;
    const words = memory.i32;
    const job = this.job >> 2;
    put(memory.f32, this.at.uniforms, uniforms, n);
    words[job + jobFields.uniforms] = this.at.uniforms;
    if (out.logits) {
      const base = this.at.offsets >> 2;
      for (let i = 0; i <= n; i++) words[base + i] = rows.offsets[i] - rows.offsets[0];
    }
  }

  leaveDecisions(rows: DecisionRows, out: ActOutputs): void {
    const n = rows.length;
    this.requireIds(rows, { list: null, count: n });
    take(this.kernels.memory.i32, this.at.action, out.action, n);
    this.collect(n, out);
  }

  evaluate(rows: Rows, order: Int32Array, from: number, to: number, out: RowOutputs, temperature = 1): void {
    if (to <= from) return;
    checkTemperature(temperature);
    this.enter(rows, order, from, to, out.logits !== undefined, temperature);
    this.forward(to - from, true, out.value !== undefined);
    this.requireVisited(rows, to - from);
    this.collect(to - from, out);
  }

  values(state: Float32Array, n: number, out: Float32Array): void {
    if (n === 0) return;
    const floats = n * this.shape.critic.inputs;
    if (state.length < floats) throw new RangeError(`state has ${state.length} entries; ${n} rows need ${floats}.`);
    this.prepare(this.stage.states(state, n), n, 0, 1);
    this.forward(n, false, true);
    take(this.kernels.memory.f32, this.at.value, out, n);
  }

  /**
   * Puts rows order[from .. to) before the kernels. They are visited as they lie in memory, where that saves time, and their figures are
   * put into the order asked for.
   */
  enter(rows: Rows, order: Int32Array, from: number, to: number, logits: boolean, temperature: number): void {
    const n = to - from;
    if (from < 0 || to > order.length)
      throw new RangeError(`rows ${from} to ${to} were asked for of an order of ${order.length}.`);
    const { visit } = this;
    visit.plan(order, from, to, rows.length);
    let items = 0;
    if (logits) for (let i = from; i < to; i++) items += rows.offsets[order[i] + 1] - rows.offsets[order[i]];
    this.prepare(this.stage.update(rows, { list: visit.rows, count: n }), n, items, temperature);
    const words = this.kernels.memory.i32;
    const job = this.job >> 2;
    words.set(visit.rows.subarray(0, n), this.at.order >> 2);
    words[job + jobFields.order] = this.at.order;
    if (visit.moved) {
      words.set(visit.places.subarray(0, n), this.at.place >> 2);
      words[job + jobFields.place] = this.at.place;
    }
    if (logits) {
      let base = this.at.offsets >> 2;
      let offset = 0;
      words[base++] = 0;
      for (let i = from; i < to; i++) {
        offset += rows.offsets[order[i] + 1] - rows.offsets[order[i]];
        words[base++] = offset;
      }
    }
  }

  /** Fills in the places of the latest `enter`, in the order of the visit. */
  visited(places: Int32Array, count: number): void {
    const { visit } = this;
    if (visit.moved) places.set(visit.places.subarray(0, count));
    else for (let i = 0; i < count; i++) places[i] = i;
  }

  /** Throws where the kernels met an id that the network does not have, among the rows of the latest `enter`. */
  requireVisited(rows: Rows, count: number): void {
    this.requireIds(rows, { list: this.visit.rows, count });
  }

  private requireIds(rows: DecisionRows, chosen: { list: Int32Array | null; count: number }): void {
    if (this.kernels.memory.i32[(this.job >> 2) + jobFields.wrong] !== 0) this.stage.refuse(rows, chosen);
  }

  /** Room for outputs and working memory, and the job's columns. */
  private prepare(columns: Columns, n: number, items: number, temperature: number): void {
    const { memory, threads } = this.kernels;
    const step = Math.ceil((n + 1) / 16) * 64;
    const base = this.outputs.ensure(step * 8 + items * 4);
    const { at } = this;
    at.order = base;
    at.uniforms = base + step;
    at.action = base + 2 * step;
    at.logp = base + 3 * step;
    at.entropy = base + 4 * step;
    at.value = base + 5 * step;
    at.offsets = base + 6 * step;
    at.place = base + 7 * step;
    at.logits = base + 8 * step;
    at.items = items;
    this.actor.ensureCandidates(columns.candidates);
    threads.ensureScratch(Math.max(this.actor.scratchBytes, this.critic.scratchBytes));
    const words = memory.i32;
    const job = this.job >> 2;
    words[job + jobFields.rows] = n;
    words[job + jobFields.wrong] = 0;
    words[job + jobFields.order] = 0;
    words[job + jobFields.place] = 0;
    words[job + jobFields.obs] = columns.obs;
    words[job + jobFields.state] = columns.state;
    words[job + jobFields.offsets] = columns.offsets;
    words[job + jobFields.subset] = columns.subset;
    words[job + jobFields.legal] = columns.legal;
    words[job + jobFields.features] = columns.candidateFeatures;
    words[job + jobFields.action] = columns.action;
    words[job + jobFields.oldLogp] = columns.oldLogp;
    words[job + jobFields.advantage] = columns.advantage;
    words[job + jobFields.returns] = columns.return;
    words[job + jobFields.oldValue] = columns.oldValue;
    words[job + jobFields.weight] = columns.weight;
    words[job + jobFields.uniforms] = 0;
    words[job + jobFields.outAction] = at.action;
    words[job + jobFields.outLogp] = at.logp;
    words[job + jobFields.outEntropy] = at.entropy;
    words[job + jobFields.outValue] = at.value;
    words[job + jobFields.outLogits] = items > 0 ? at.logits : 0;
    words[job + jobFields.outOffsets] = at.offsets;
    memory.f32[job + jobFields.inverseTemperature] = 1 / temperature;
  }

  private forward(n: number, actor: boolean, critic: boolean): void {
    const { threads } = this.kernels;
    threads.begin(forwardTasks(n));
    this.addForward(n, actor, critic);
    threads.run();
  }

  /** Actor and critic go apart, so that both threads have something to do for a few rows too; the actor, which is longer, is taken first. */
  addForward(n: number, actor = true, critic = true): void {
    const { threads } = this.kernels;
    const blocks = Math.ceil(n / FORWARD_ROWS);
    if (critic) for (let i = 0; i < blocks; i++) threads.add(taskKinds.criticForward, this.job, i);
    if (actor) for (let i = 0; i < blocks; i++) threads.add(taskKinds.actorForward, this.job, i);
  }

  /** Copies the figures of the rows at work. */
  collect(n: number, out: RowOutputs): void {
    const { f32 } = this.kernels.memory;
    take(f32, this.at.logp, out.logp, n);
    take(f32, this.at.entropy, out.entropy, n);
    if (out.value) take(f32, this.at.value, out.value, n);
    if (out.logits) take(f32, this.at.logits, out.logits, this.at.items);
  }

  private place(index: number): [network: KernelNetwork, index: number, shift: number] {
    const first = this.actor.parameters.length;
    return index < first ? [this.actor, index, 0] : [this.critic, index - first, this.actor.floats * 4];
  }

  private readFrom(buffer: number, index: number): Float32Array {
    const [network, own, shift] = this.place(index);
    return network.read(own, buffer + shift);
  }

  private writeTo(buffer: number, index: number, values: ArrayLike<number>): void {
    const [network, own, shift] = this.place(index);
    network.write(own, values, buffer + shift);
  }

  read(index: number): Float32Array {
    return this.readFrom(this.buffers.parameters, index);
  }

  write(index: number, values: ArrayLike<number>): void {
    this.writeTo(this.buffers.parameters, index, values);
    this.kernels.exports.pack(this.place(index)[0].at);
  }

  gradient(index: number): Float32Array {
    return this.readFrom(this.buffers.gradient, index);
  }

  save(): PolicySave {
    const all = (buffer: number) => this.parameters.map((_, index) => this.readFrom(buffer, index));
    const { parameters, firstMoment, secondMoment } = this.buffers;
    return {
      steps: this.steps,
      values: all(parameters),
      firstMoments: all(firstMoment),
      secondMoments: all(secondMoment),
    };
  }

  load(save: PolicySave): void {
    const { firstMoment, secondMoment } = this.buffers;
    this.parameters.forEach((_, index) => {
      this.write(index, save.values[index]);
      this.writeTo(firstMoment, index, save.firstMoments[index]);
      this.writeTo(secondMoment, index, save.secondMoments[index]);
    });
    this.steps = save.steps;
  }
}

/** At most so many tasks decide on these rows. */
export function forwardTasks(rows: number): number {
  return 2 * Math.ceil(rows / FORWARD_ROWS);
}

export function checkTemperature(temperature: number): void {
  if (!(temperature > 0 && temperature < Infinity))
    throw new RangeError(`temperature is ${temperature}; it must be above 0.`);
}
