/** Names, roles, shapes and first values of a network's parameters. Biases start at zero; nothing but a gain separates a head from a trunk layer. */
import type { RandomStream } from '../math/random.ts';
import type { MlpShape, Parameter, PolicyShape, Role } from './types.ts';

/** Widths from input to output. */
export function widths(shape: MlpShape): number[] {
  return [shape.inputs, ...shape.hidden, shape.outputs];
}

export function mlpParameters(shape: MlpShape, prefix: string, trunk: Role, head: Role): Parameter[] {
  const sizes = widths(shape);
  const parameters: Parameter[] = [];
  for (let layer = 0; layer + 1 < sizes.length; layer++) {
    const last = layer + 2 === sizes.length;
    const name = `${prefix}.${last ? 'head' : layer}`;
    const role = last ? head : trunk;
    const [inputs, outputs] = [sizes[layer], sizes[layer + 1]];
    parameters.push({ name: `${name}.weight`, role, shape: [outputs, inputs], size: outputs * inputs });
    parameters.push({ name: `${name}.bias`, role, shape: [outputs], size: outputs });
  }
  return parameters;
}

export function policyParameters(shape: PolicyShape): Parameter[] {
  return [
    ...mlpParameters(shape.actor, 'actor', 'trunk', 'head'),
    ...mlpParameters(shape.critic, 'critic', 'critic', 'critic'),
  ];
}

/** First values of a network, in the order of its parameters. */
export function initialValues(shape: MlpShape, stream: RandomStream): Float64Array[] {
  const sizes = widths(shape);
  const values: Float64Array[] = [];
  for (let layer = 0; layer + 1 < sizes.length; layer++) {
    const last = layer + 2 === sizes.length;
    const gain = last ? shape.outputGain : (shape.hiddenGain ?? Math.SQRT2);
    values.push(orthogonal(sizes[layer + 1], sizes[layer], gain, stream), new Float64Array(sizes[layer + 1]));
  }
  return values;
}

/**
 * A matrix [rows][columns] whose shorter side's vectors are orthogonal with length `gain`: Gram and Schmidt on normal draws, each vector
 * cleared twice, because once is not exact enough. The uniform distribution over such matrices follows from that of the draws.
 */
export function orthogonal(rows: number, columns: number, gain: number, stream: RandomStream): Float64Array {
  const count = Math.min(rows, columns);
  const length = Math.max(rows, columns);
  const vectors = new Float64Array(count * length);
  for (let i = 0; i < vectors.length; i++) vectors[i] = stream.normal();
  for (let v = 0; v < count; v++) {
    const at = v * length;
    for (let round = 0; round < 2; round++) {
      for (let u = 0; u < v; u++) {
        let product = 0;
        for (let i = 0; i < length; i++) product += vectors[at + i] * vectors[u * length + i];
        for (let i = 0; i < length; i++) vectors[at + i] -= product * vectors[u * length + i];
      }
      let square = 0;
      for (let i = 0; i < length; i++) square += vectors[at + i] ** 2;
      const scale = 1 / Math.sqrt(square);
      for (let i = 0; i < length; i++) vectors[at + i] *= scale;
    }
  }
  const matrix = new Float64Array(rows * columns);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      matrix[r * columns + c] = gain * (rows <= columns ? vectors[r * length + c] : vectors[c * length + r]);
    }
  }
  return matrix;
}

export function checkMlpShape(shape: MlpShape, name: string): void {
  const sizes = widths(shape);
  if (shape.hidden.length > 4) {
    throw new RangeError(`${name} has ${shape.hidden.length} hidden layers; at most 4 are supported.`);
  }
  for (const size of sizes) {
    if (!Number.isInteger(size) || size < 1 || size > 65536) {
      throw new RangeError(`${name} has the widths ${sizes.join('-')}; each must be a whole number from 1 to 65536.`);
    }
  }
}

export function checkPolicyShape(shape: PolicyShape): void {
  checkMlpShape(shape.actor, 'the actor');
  checkMlpShape(shape.critic, 'the critic');
  if (shape.critic.outputs !== 1) {
    throw new RangeError(`the critic has ${shape.critic.outputs} outputs; a value is 1.`);
  }
  if (shape.head === 'pointer') {
    if (shape.actor.outputs !== 1) {
      throw new RangeError(
        `a pointer head scores one candidate at a time; its actor must have 1 output, not ${shape.actor.outputs}.`,
      );
    }
    if (!(shape.features >= 1 && shape.features < shape.actor.inputs)) {
      throw new RangeError(
        `a pointer head needs features of each candidate beside the observation; got ${shape.features} features of ${shape.actor.inputs} inputs.`,
      );
    }
  } else if (shape.features !== 0) {
    throw new RangeError(
      `a fixed head reads no features; got ${shape.features}, set features to 0 or the head to pointer.`,
    );
  }
}
