/** The policy of the reference: forward, PPO loss and gradient, one row after the other in double precision. */
import { ppoLoss } from '../../algorithms/ppo/loss.ts';
import { Categorical } from '../../distributions/categorical/categorical.ts';
import type { Actions, Distribution, Floats } from '../../distributions/distribution.ts';
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
  candidateFeatures: Floats;
}

export interface ReferenceRows extends ReferenceDecisions {
  action: Actions;
  oldLogp: Floats;
  advantage: Floats;
  return: Floats;
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
}

export class ReferencePolicy implements Policy {
  readonly parameters: readonly Parameter[];
  readonly actor: ReferenceNetwork;
  readonly critic: ReferenceNetwork;
  readonly shape: PolicyShape;
  steps = 0;
  private readonly distribution: Distribution = new Categorical();

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
        input.set(rowOf(rows.candidateFeatures, start + i, shape.features), observation);
        layers.push(this.actor.forward(input));
        logits[i] = layers[i].at(-1)![0];
      }
    }
    const legal = rows.legal.subarray(start, start + count);
    this.distribution.look(logits, legal, temperature);
    return { layers, logits };
  }

  act(
    rows: ReferenceDecisions,
    uniforms: Floats,
    temperature: number,
    out: ReferenceOutputs & { action: Actions },
  ): void {
    let item = 0;
    for (let row = 0; row < rows.length; row++) {
      const pass = this.actorPass(rows, row, temperature);
      this.distribution.sample(uniforms, row * this.distribution.draws, out.action, row);
      this.record(rows, row, row, pass, this.distribution.logp(out.action, row), out, item);
      item += pass.logits.length;
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
      this.record(rows, row, i - from, pass, this.distribution.logp(rows.action, row), out, item);
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
    out.entropy[at] = this.distribution.entropy;
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
      const { distribution } = this;
      const newLogp = distribution.logp(rows.action, row);
      if (out) this.record(rows, row, i - from, pass, newLogp, out, item);
      item += pass.logits.length;

      const layers = this.critic.forward(rowOf(rows.state, row, this.shape.critic.inputs));
      const oldLogp = rows.oldLogp[row];
      const { entropy } = distribution;
      const loss = ppoLoss(
        {
          newLogp,
          oldLogp,
          advantage: rows.advantage[row] * settings.advantageScale,
          entropy,
          value: layers.at(-1)![0],
          oldValue: rows.oldValue[row],
          return: rows.return[row],
        },
        settings,
      );
      const logRatio = newLogp - oldLogp;
      const excess = loss.ratio - 1;
      sums.policyLoss += weight * loss.policy;
      sums.valueLoss += weight * loss.value;
      sums.entropy += weight * entropy;
      sums.k1 -= weight * logRatio;
      sums.k2 += (weight * logRatio * logRatio) / 2;
      sums.k3 += weight * (Math.expm1(logRatio) - logRatio);
      if (Math.abs(excess) > settings.clip) sums.clipped += weight;
      sums.ratio += weight * excess;
      sums.ratioSquare += weight * excess ** 2;

      const share = weight / total;
      const byLogit = new Float64Array(pass.logits.length);
      distribution.gradient(rows.action, row, share * loss.byLogp, share * loss.byEntropy, byLogit);
      this.actorBackward(rows, row, pass, byLogit);
      this.critic.backward(layers, Float64Array.of(share * loss.byValue));
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
