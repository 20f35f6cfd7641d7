/** The engine in plain TypeScript and double precision: for tests, and for machines without WASM SIMD. One thread, and slow. */
import { bernoulli, crossEntropy, gaussian } from '../../algorithms/hop/loss.ts';
import { localPolicy, localPolicyBuffer } from '../../math/local-policy.ts';
import type { RandomStream } from '../../math/random.ts';
import { checkMlpShape, mlpParameters } from '../parameters.ts';
import { checkJobs, checkTargets, clipScale } from '../report.ts';
import type {
  ActJob,
  Engine,
  ForwardJob,
  Mlp,
  MlpLoss,
  MlpShape,
  Optimizer,
  OptimizerMember,
  Parameter,
  PolicySave,
  PolicyShape,
  StepReport,
  UpdateJob,
} from '../types.ts';
import { plainRoom } from '../types.ts';
import { loadNetworks, ReferenceNetwork, rowOf, saveNetworks } from './mlp.ts';
import { ReferencePolicy } from './policy.ts';

export class ReferenceMlp implements Mlp {
  readonly network: ReferenceNetwork;
  readonly parameters: readonly Parameter[];
  readonly shape: MlpShape;
  steps = 0;
  private layers: Float64Array[][] = [];

  constructor(shape: MlpShape, stream: RandomStream) {
    checkMlpShape(shape, 'the network');
    this.shape = shape;
    this.parameters = mlpParameters(shape, 'mlp', 'trunk', 'head');
    this.network = new ReferenceNetwork(shape, this.parameters, stream);
  }

  forward(x: Float32Array, n: number, out: Float32Array): void {
    this.layers = [];
    for (let row = 0; row < n; row++) {
      const layers = this.network.forward(rowOf(x, row, this.shape.inputs));
      this.layers.push(layers);
      out.set(layers.at(-1)!, row * this.shape.outputs);
    }
  }

  backward(gradOut: Float32Array, n: number, gradIn?: Float32Array): void {
    if (n !== this.layers.length)
      throw new RangeError(`backward got ${n} rows after a forward of ${this.layers.length}.`);
    for (let row = 0; row < n; row++) {
      const byInput = this.network.backward(this.layers[row], rowOf(gradOut, row, this.shape.outputs));
      gradIn?.set(byInput, row * this.shape.inputs);
    }
  }

  learn(x: Float32Array, n: number, loss: MlpLoss, gradIn?: Float32Array): number {
    const { outputs } = this.shape;
    if (n === 0) return 0;
    const counted = Math.max(1, checkTargets(loss, n, outputs));
    const [y, gradient] = [new Float32Array(n * outputs), new Float32Array(n * outputs)];
    this.forward(x, n, y);
    const value =
      loss.kind === 'choice'
        ? crossEntropy(
            y,
            n,
            outputs,
            [{ start: 0, size: outputs }],
            loss.targets,
            gradient,
            allowed(loss.legal, n, outputs),
            n / counted,
          )
        : (loss.kind === 'bernoulli' ? bernoulli : gaussian)(y, n, outputs, loss.targets, gradient);
    this.backward(gradient, n, gradIn);
    return value;
  }

  read(index: number): Float32Array {
    return Float32Array.from(this.network.values[index]);
  }

  write(index: number, values: ArrayLike<number>): void {
    this.network.write(index, values);
  }

  gradient(index: number): Float32Array {
    return Float32Array.from(this.network.gradients[index]);
  }

  save(): PolicySave {
    return saveNetworks(this.steps, [this.network]);
  }

  load(save: PolicySave): void {
    loadNetworks(save, [this.network]);
    this.steps = save.steps;
  }
}

/** Bits of legal outputs, one entry each; none of a row forbids nothing. */
function allowed(legal: Int32Array, n: number, outputs: number): Uint8Array {
  return Uint8Array.from({ length: n * outputs }, (_, i) => {
    const bits = legal[Math.floor(i / outputs)];
    return bits === 0 ? 1 : (bits >> (i % outputs)) & 1;
  });
}

class ReferenceAdam implements Optimizer {
  private readonly members: { mlp: ReferenceMlp; group: OptimizerMember['group'] }[];
  private readonly settings: { beta1: number; beta2: number; eps: number };

  constructor(members: readonly OptimizerMember[], settings: { beta1: number; beta2: number; eps: number }) {
    this.settings = settings;
    this.members = members.map(({ mlp, group }) => {
      if (!(mlp instanceof ReferenceMlp)) throw new TypeError('An optimizer got a network of another engine.');
      return { mlp, group };
    });
  }

  step(maxGradNorm: number | null): number {
    let square = 0;
    for (const { mlp } of this.members) {
      for (let index = 0; index < mlp.parameters.length; index++) square += mlp.network.squaredNorm(index);
    }
    const norm = Math.sqrt(square);
    if (Number.isFinite(norm)) {
      const scale = clipScale(norm, maxGradNorm);
      for (const { mlp, group } of this.members) {
        mlp.steps++;
        for (let index = 0; index < mlp.parameters.length; index++) {
          mlp.network.step(index, mlp.steps, scale, group, this.settings);
        }
      }
    }
    this.clear();
    return norm;
  }

  clear(): void {
    for (const { mlp } of this.members) mlp.network.clear();
  }
}

export class ReferenceEngine implements Engine {
  readonly kernel = 'reference';
  readonly engine = 'reference';
  readonly threads = 1;

  policy(shape: PolicyShape, stream: RandomStream): ReferencePolicy {
    return new ReferencePolicy(shape, stream);
  }

  mlp(shape: MlpShape, stream: RandomStream): ReferenceMlp {
    return new ReferenceMlp(shape, stream);
  }

  adam(members: readonly OptimizerMember[], settings: { beta1: number; beta2: number; eps: number }): Optimizer {
    return new ReferenceAdam(members, settings);
  }

  act(jobs: readonly ActJob[]): void {
    for (const { policy, rows, uniforms, temperature, out } of jobs) policy.act(rows, uniforms, temperature, out);
  }

  forward(jobs: readonly ForwardJob[]): void {
    for (const { mlp, x, rows, out, choices } of jobs) {
      mlp.forward(x, rows, out);
      const { outputs } = mlp.shape;
      if (!choices) continue;
      const { legal, shares, stride } = choices;
      const mask = allowed(legal, rows, outputs);
      const { probabilities, logProbabilities } = localPolicyBuffer(outputs);
      for (let row = 0; row < rows; row++) {
        localPolicy(out, null, mask, 1, { probabilities, logProbabilities }, { start: row * outputs, count: outputs });
        shares.set(legal[row] < 0 ? new Float32Array(outputs) : probabilities, row * stride);
      }
    }
  }

  update(jobs: readonly UpdateJob[]): StepReport[] {
    checkJobs(jobs);
    return jobs.map(({ policy, rows, order, from, to, settings, out, visited, measureTensors }) => {
      if (!(policy instanceof ReferencePolicy)) throw new TypeError('An update got a policy of another engine.');
      for (let i = 0; visited && i < to - from; i++) visited[i] = i;
      return policy.update(rows, order, from, to, settings, out, measureTensors);
    });
  }

  readonly room = plainRoom;
  dispose(): void {}
}
