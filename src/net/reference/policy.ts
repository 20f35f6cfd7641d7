/** The policy of the reference: forward, PPO loss and gradient, one row after the other in double precision. */
import { type Floats, type LocalPolicy, localPolicy, localPolicyBuffer, sampleIndex } from '../../math/local-policy.ts';
import type { RandomStream } from '../../math/random.ts';
import { checkPolicyShape, mlpParameters } from '../parameters.ts';
import { clipScales, noSums, type RoleSquares, stepReport } from '../report.ts';
import type { Parameter, Policy, PolicySave, PolicyShape, StepReport, UpdateSettings } from '../types.ts';
import { loadNetworks, ReferenceNetwork, rowOf, saveNetworks } from './mlp.ts';

/** The rows of `types.ts`, with columns of either precision. */
export interface ReferenceDecisions {
  length: number;
  obs: Floats;
  state: Floats;
  offsets: Int32Array;
  subset: Int32Array;
  legal: Uint8Array;
  features: Floats;
}

export interface ReferenceRows extends ReferenceDecisions {
  action: Int32Array;
  oldLogp: Floats;
  advantage: Floats;
  returns: Floats;
  oldValue: Floats;
  weight?: Floats;
}

export interface ReferenceOutputs {
  logp: Floats;
  entropy: Floats;
  value?: Floats;
  logits?: Floats;
}

/** One row's way through the actor. */
interface ActorPass {
  /** One pass with a fixed head, one for each candidate with a pointer head. */
  layers: Float64Array[][];
  logits: Float64Array;
  entropy: number;
}

export class ReferencePolicy implements Policy {
  readonly parameters: readonly Parameter[];
  readonly actor: ReferenceNetwork;
  readonly critic: ReferenceNetwork;
  readonly shape: PolicyShape;
  steps = 0;
  private local: LocalPolicy = localPolicyBuffer(32);

  constructor(shape: PolicyShape, stream: RandomStream) {
    checkPolicyShape(shape);
    this.shape = shape;
    this.actor = new ReferenceNetwork(shape.actor, mlpParameters(shape.actor, 'actor', 'trunk', 'head'), stream);
    this.critic = new ReferenceNetwork(shape.critic, mlpParameters(shape.critic, 'critic', 'critic', 'critic'), stream);
    this.parameters = [...this.actor.parameters, ...this.critic.parameters];
  }

  private actorPass(rows: ReferenceDecisions, row: number, temperature: number): ActorPass {
    const { shape } = this;
    const observation = shape.actor.inputs - shape.features;
    const start = rows.offsets[row];
    const count = rows.offsets[row + 1] - start;
    if (this.local.probabilities.length < count) this.local = localPolicyBuffer(2 * count);
    const obs = rowOf(rows.obs, row, observation);
    const logits = new Float64Array(count);
    let layers: Float64Array[][];
    if (shape.head === 'fixed') {
      layers = [this.actor.forward(obs)];
      for (let i = 0; i < count; i++) logits[i] = layers[0].at(-1)![rows.subset[start + i]];
    } else {
      layers = [];
      for (let i = 0; i < count; i++) {
        const input = new Float64Array(shape.actor.inputs);
        input.set(obs);
        input.set(rowOf(rows.features, start + i, shape.features), observation);
        layers.push(this.actor.forward(input));
        logits[i] = layers[i].at(-1)![0];
      }
    }
    const legal = rows.legal.subarray(start, start + count);
    return { layers, logits, entropy: localPolicy(logits, null, legal, temperature, this.local) };
  }

  private logpOf(action: number, count: number): number {
    return action >= 0 && action < count ? this.local.logProbabilities[action] : -Infinity;
  }

  act(
    rows: ReferenceDecisions,
    uniforms: Floats,
    temperature: number,
    out: ReferenceOutputs & { action: Int32Array },
  ): void {
    let item = 0;
    for (let row = 0; row < rows.length; row++) {
      const pass = this.actorPass(rows, row, temperature);
      const count = pass.logits.length;
      const action = Math.max(0, sampleIndex(this.local.probabilities, uniforms[row], 0, count));
      out.action[row] = action;
      this.record(rows, row, row, pass, this.logpOf(action, count), out, item);
      item += count;
    }
  }

  evaluate(
    rows: ReferenceRows,
    order: Int32Array,
    from: number,
    to: number,
    out: ReferenceOutputs,
    temperature = 1,
  ): void {
    let item = 0;
    for (let i = from; i < to; i++) {
      const row = order[i];
      const pass = this.actorPass(rows, row, temperature);
      this.record(rows, row, i - from, pass, this.logpOf(rows.action[row], pass.logits.length), out, item);
      item += pass.logits.length;
    }
  }

  private record(
    rows: ReferenceDecisions,
    row: number,
    at: number,
    pass: ActorPass,
    logp: number,
    out: ReferenceOutputs,
    item: number,
  ): void {
    out.logp[at] = logp;
    out.entropy[at] = pass.entropy;
    if (out.value) out.value[at] = this.critic.forward(rowOf(rows.state, row, this.shape.critic.inputs)).at(-1)![0];
    if (out.logits) for (let i = 0; i < pass.logits.length; i++) out.logits[item + i] = pass.logits[i];
  }

  values(state: Floats, n: number, out: Floats): void {
    for (let row = 0; row < n; row++)
      out[row] = this.critic.forward(rowOf(state, row, this.shape.critic.inputs)).at(-1)![0];
  }

  /** One PPO step. */
  update(
    rows: ReferenceRows,
    order: Int32Array,
    from: number,
    to: number,
    settings: UpdateSettings,
    out?: ReferenceOutputs,
    measure = false,
  ): StepReport {
    const report = this.differentiate(rows, order, from, to, settings, out);
    if (!report.finite) return report;
    this.steps++;
    const scales = clipScales(settings, this.squares());
    const tensors = [this.actor, this.critic].flatMap((network) =>
      network.parameters.map(({ role }, index) =>
        network.step(index, this.steps, scales[role], settings.groups[role], settings.adam),
      ),
    );
    return measure ? { ...report, tensors } : report;
  }

  private squares(): RoleSquares {
    const squares: RoleSquares = { trunk: 0, head: 0, critic: 0 };
    for (const network of [this.actor, this.critic]) {
      network.parameters.forEach(({ role }, index) => {
        squares[role] += network.squaredNorm(index);
      });
    }
    return squares;
  }

  /** The loss and its gradient, without the step. */
  differentiate(
    rows: ReferenceRows,
    order: Int32Array,
    from: number,
    to: number,
    settings: UpdateSettings,
    out?: ReferenceOutputs,
  ): StepReport {
    this.actor.clear();
    this.critic.clear();
    const sums = noSums();
    let total = 0;
    for (let i = from; i < to; i++) total += rows.weight ? rows.weight[order[i]] : 1;
    let item = 0;
    for (let i = from; i < to; i++) {
      const row = order[i];
      const weight = rows.weight ? rows.weight[row] : 1;
      const pass = this.actorPass(rows, row, settings.temperature);
      const count = pass.logits.length;
      const action = rows.action[row];
      const logp = this.logpOf(action, count);
      if (out) this.record(rows, row, i - from, pass, logp, out, item);
      item += count;

      const advantage = rows.advantage[row] * settings.advantageScale;
      const logRatio = logp - rows.oldLogp[row];
      const ratio = Math.exp(logRatio);
      const bounded = Math.min(Math.max(ratio, 1 - settings.clip), 1 + settings.clip) * advantage;
      const held = ratio * advantage > bounded;
      sums.policyLoss -= weight * (held ? bounded : ratio * advantage);
      sums.entropy += weight * pass.entropy;
      sums.k1 -= weight * logRatio;
      sums.k2 += (weight * logRatio * logRatio) / 2;
      sums.k3 += weight * (Math.expm1(logRatio) - logRatio);
      if (Math.abs(ratio - 1) > settings.clip) sums.clipped += weight;
      sums.ratio += weight * (ratio - 1);
      sums.ratioSquare += weight * (ratio - 1) ** 2;

      const share = weight / total / settings.temperature;
      const byLogp = held ? 0 : -ratio * advantage;
      const byLogit = new Float64Array(count);
      for (let j = 0; j < count; j++) {
        if (!rows.legal[rows.offsets[row] + j]) continue;
        const p = this.local.probabilities[j];
        const byEntropy = p > 0 ? p * (this.local.logProbabilities[j] + pass.entropy) : 0;
        byLogit[j] = share * (byLogp * ((j === action ? 1 : 0) - p) + settings.entropyCoefficient * byEntropy);
      }
      this.actorBackward(rows, row, pass, byLogit);
      sums.valueLoss += weight * this.criticRow(rows, row, settings, weight / total);
    }
    return stepReport(sums, total, settings, this.squares());
  }

  private actorBackward(rows: ReferenceRows, row: number, pass: ActorPass, byLogit: Float64Array): void {
    if (this.shape.head === 'pointer') {
      byLogit.forEach((gradient, j) => {
        this.actor.backward(pass.layers[j], Float64Array.of(gradient));
      });
      return;
    }
    const global = new Float64Array(this.shape.actor.outputs);
    for (let j = 0; j < byLogit.length; j++) global[rows.subset[rows.offsets[row] + j]] += byLogit[j];
    this.actor.backward(pass.layers[0], global);
  }

  /** One row's value loss; adds its gradient. */
  private criticRow(rows: ReferenceRows, row: number, settings: UpdateSettings, share: number): number {
    const layers = this.critic.forward(rowOf(rows.state, row, this.shape.critic.inputs));
    const value = layers.at(-1)![0];
    const target = rows.returns[row];
    const { huberDelta } = settings;
    const huber = settings.valueLoss === 'huber';
    const lossOf = (error: number) => {
      if (!huber) return error * error;
      return Math.abs(error) <= huberDelta ? (error * error) / 2 : huberDelta * (Math.abs(error) - huberDelta / 2);
    };
    let loss = lossOf(value - target);
    let slope = huber ? Math.min(Math.max(value - target, -huberDelta), huberDelta) : 2 * (value - target);
    if (settings.valueClip !== null) {
      const old = rows.oldValue[row];
      const near = old + Math.min(Math.max(value - old, -settings.valueClip), settings.valueClip);
      if (lossOf(near - target) > loss) {
        loss = lossOf(near - target);
        // The clipped value is a constant.
        if (Math.abs(value - old) > settings.valueClip) slope = 0;
      }
    }
    this.critic.backward(layers, Float64Array.of(settings.valueCoefficient * slope * share));
    return loss;
  }

  private place(index: number): [ReferenceNetwork, number] {
    const first = this.actor.parameters.length;
    return index < first ? [this.actor, index] : [this.critic, index - first];
  }

  /** The parameter in double precision, not a copy. */
  exact(index: number): Float64Array {
    const [network, own] = this.place(index);
    return network.values[own];
  }

  exactGradient(index: number): Float64Array {
    const [network, own] = this.place(index);
    return network.gradients[own];
  }

  read(index: number): Float32Array {
    return Float32Array.from(this.exact(index));
  }

  write(index: number, values: ArrayLike<number>): void {
    const [network, own] = this.place(index);
    network.write(own, values);
  }

  gradient(index: number): Float32Array {
    return Float32Array.from(this.exactGradient(index));
  }

  save(): PolicySave {
    return saveNetworks(this.steps, [this.actor, this.critic]);
  }

  load(save: PolicySave): void {
    loadNetworks(save, [this.actor, this.critic]);
    this.steps = save.steps;
  }
}
