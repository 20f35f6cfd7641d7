/** An MLP row by row in double precision, written to be read: what the kernels must agree with. */
import type { Floats } from '../../distributions/distribution.ts';
import type { RandomStream } from '../../math/random.ts';
import { initialValues, widths } from '../parameters.ts';
import type { GroupSettings, MlpShape, Parameter, PolicySave, TensorReport } from '../types.ts';

export class ReferenceNetwork {
  readonly sizes: number[];
  readonly values: Float64Array[];
  readonly gradients: Float64Array[];
  readonly firstMoments: Float64Array[];
  readonly secondMoments: Float64Array[];
  readonly shape: MlpShape;
  readonly parameters: readonly Parameter[];

  constructor(shape: MlpShape, parameters: readonly Parameter[], stream: RandomStream) {
    this.shape = shape;
    this.parameters = parameters;
    this.sizes = widths(shape);
    this.values = initialValues(shape, stream);
    const zeros = () => parameters.map((parameter) => new Float64Array(parameter.size));
    this.gradients = zeros();
    this.firstMoments = zeros();
    this.secondMoments = zeros();
  }

  /** Inputs of every layer and the outputs, for one row. */
  forward(input: Float64Array): Float64Array[] {
    const layers = [input];
    const last = this.sizes.length - 2;
    for (let layer = 0; layer <= last; layer++) {
      const [inputs, outputs] = [this.sizes[layer], this.sizes[layer + 1]];
      const weight = this.values[2 * layer];
      const bias = this.values[2 * layer + 1];
      const x = layers[layer];
      const y = new Float64Array(outputs);
      for (let o = 0; o < outputs; o++) {
        let sum = bias[o];
        for (let i = 0; i < inputs; i++) sum += weight[o * inputs + i] * x[i];
        y[o] = layer === last ? sum : this.shape.activation === 'tanh' ? Math.tanh(sum) : Math.max(sum, 0);
      }
      layers.push(y);
    }
    return layers;
  }

  /** Adds one row's parameter gradients; returns the gradient of the input. */
  backward(layers: readonly Float64Array[], gradOut: Float64Array): Float64Array {
    let delta = gradOut;
    for (let layer = this.sizes.length - 2; layer >= 0; layer--) {
      const [inputs, outputs] = [this.sizes[layer], this.sizes[layer + 1]];
      const weight = this.values[2 * layer];
      const byWeight = this.gradients[2 * layer];
      const byBias = this.gradients[2 * layer + 1];
      const x = layers[layer];
      const byInput = new Float64Array(inputs);
      for (let o = 0; o < outputs; o++) {
        byBias[o] += delta[o];
        for (let i = 0; i < inputs; i++) {
          byWeight[o * inputs + i] += delta[o] * x[i];
          byInput[i] += delta[o] * weight[o * inputs + i];
        }
      }
      if (layer > 0) {
        for (let i = 0; i < inputs; i++)
          byInput[i] *= this.shape.activation === 'tanh' ? 1 - x[i] * x[i] : x[i] > 0 ? 1 : 0;
      }
      delta = byInput;
    }
    return delta;
  }

  clear(): void {
    for (const gradient of this.gradients) gradient.fill(0);
  }

  /** Adam with coupled weight decay on one parameter. */
  step(
    index: number,
    step: number,
    scale: number,
    group: GroupSettings,
    adam: { beta1: number; beta2: number; eps: number },
  ): TensorReport {
    const value = this.values[index];
    const gradient = this.gradients[index];
    const first = this.firstMoments[index];
    const second = this.secondMoments[index];
    const stepSize = group.learningRate / (1 - adam.beta1 ** step);
    const root = Math.sqrt(1 - adam.beta2 ** step);
    let [square, nonzero, delta, deltaSquare, norm] = [0, 0, 0, 0, 0];
    for (let i = 0; i < value.length; i++) {
      const clipped = gradient[i] * scale;
      const g = clipped + group.weightDecay * value[i];
      first[i] = adam.beta1 * first[i] + (1 - adam.beta1) * g;
      second[i] = adam.beta2 * second[i] + (1 - adam.beta2) * g * g;
      const change = (-stepSize * first[i]) / (Math.sqrt(second[i]) / root + adam.eps);
      value[i] += change;
      square += clipped * clipped;
      if (gradient[i] !== 0) nonzero++;
      delta += Math.abs(change);
      deltaSquare += change * change;
      norm += value[i] * value[i];
    }
    return {
      gradNorm: Math.sqrt(square),
      gradNonzero: nonzero,
      delta,
      deltaNorm: Math.sqrt(deltaSquare),
      norm: Math.sqrt(norm),
    };
  }

  squaredNorm(index: number): number {
    let sum = 0;
    for (const g of this.gradients[index]) sum += g * g;
    return sum;
  }

  write(index: number, values: ArrayLike<number>): void {
    const { name, size } = this.parameters[index];
    if (values.length !== size) throw new RangeError(`${name} has ${size} values; got ${values.length}.`);
    this.values[index].set(values);
  }
}

/**
 * A save holds single precision by type, but the reference hands out its doubles bit for bit: each double is kept as the two floats
 * that share its bytes.
 */
export function saveNetworks(steps: number, networks: readonly ReferenceNetwork[]): PolicySave {
  const bytes = (arrays: Float64Array[]) => arrays.map((array) => new Float32Array(array.slice().buffer));
  return {
    steps,
    values: bytes(networks.flatMap((network) => network.values)),
    firstMoments: bytes(networks.flatMap((network) => network.firstMoments)),
    secondMoments: bytes(networks.flatMap((network) => network.secondMoments)),
  };
}

/** Takes a save of the reference, or one of the kernels, whose values are then plain single precision. */
export function loadNetworks(save: PolicySave, networks: readonly ReferenceNetwork[]): void {
  const copy = (targets: Float64Array[], sources: Float32Array[]) => {
    targets.forEach((target, index) => {
      const source = sources[index];
      if (source.length === target.length) target.set(source);
      else if (source.length === 2 * target.length) target.set(new Float64Array(source.slice().buffer));
      else throw new RangeError(`a saved tensor has ${source.length} entries; tensor ${index} has ${target.length}.`);
    });
  };
  copy(
    networks.flatMap((network) => network.values),
    save.values,
  );
  copy(
    networks.flatMap((network) => network.firstMoments),
    save.firstMoments,
  );
  copy(
    networks.flatMap((network) => network.secondMoments),
    save.secondMoments,
  );
}

/** Row `row` of a row-major matrix as doubles. */
export function rowOf(column: Floats, row: number, width: number): Float64Array {
  return Float64Array.from(column.subarray(row * width, (row + 1) * width));
}
