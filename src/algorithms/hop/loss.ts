/** Losses of models with their gradients, over row-major outputs. A loss is the mean over rows of the sum over columns; gradients are of that mean. */

/** A categorical variable: columns [start, start + size) of the logits. */
export interface Group {
  start: number;
  size: number;
}

/** Exponentials of one row's logits, which loss and gradient share. */
let powers = new Float64Array(16);

/**
 * Cross-entropy of one target index per row and group; a target of -1 leaves the group of that row out, and the mean still runs over all
 * rows. `legal`, laid out like the logits, rules out columns. Adds to `gradient`.
 */
export function crossEntropy(
  logits: Float32Array,
  n: number,
  columns: number,
  groups: readonly Group[],
  targets: Int32Array,
  gradient: Float32Array,
  legal?: Uint8Array,
  coefficient = 1,
): number {
  let loss = 0;
  const share = coefficient / n;
  for (let row = 0; row < n; row++) {
    for (let g = 0; g < groups.length; g++) {
      const target = targets[row * groups.length + g];
      if (target < 0) continue;
      const { size } = groups[g];
      const at = row * columns + groups[g].start;
      if (target >= size || (legal && !legal[at + target])) {
        throw new RangeError(
          `row ${row}, group ${g}: target ${target} is not one of the group's legal columns 0 .. ${size - 1}.`,
        );
      }
      let largest = -Infinity;
      for (let i = at; i < at + size; i++) if ((!legal || legal[i]) && !(logits[i] <= largest)) largest = logits[i];
      if (powers.length < size) powers = new Float64Array(size);
      let sum = 0;
      for (let i = 0; i < size; i++) {
        if (legal && !legal[at + i]) continue;
        powers[i] = Math.exp(logits[at + i] - largest);
        sum += powers[i];
      }
      loss += largest + Math.log(sum) - logits[at + target];
      for (let i = 0; i < size; i++) if (!legal || legal[at + i]) gradient[at + i] += (share * powers[i]) / sum;
      gradient[at + target] -= share;
    }
  }
  return (coefficient * loss) / n;
}

/** Negative log-likelihood of targets in [0, 1] under independent Bernoulli variables given by logits. Adds to `gradient`. */
export function bernoulli(
  logits: Float32Array,
  n: number,
  columns: number,
  targets: Float32Array,
  gradient: Float32Array,
  coefficient = 1,
): number {
  let loss = 0;
  // A logarithm of a product is one logarithm; 64 factors of at most 2 are far from overflow.
  let product = 1;
  const share = coefficient / n;
  for (let i = 0; i < n * columns; i++) {
    const z = logits[i];
    // log(1 + e^z) - target z, without overflow; one exponential serves the value and the gradient.
    const e = Math.exp(z > 0 ? -z : z);
    loss += Math.max(z, 0) - targets[i] * z;
    product *= 1 + e;
    if ((i & 63) === 63) {
      loss += Math.log(product);
      product = 1;
    }
    gradient[i] += share * ((z > 0 ? 1 : e) / (1 + e) - targets[i]);
  }
  return (coefficient * (loss + Math.log(product))) / n;
}

/** Negative log-likelihood under independent normals with the outputs as means and one given variance, without its constant. Adds to `gradient`. */
export function gaussian(
  means: Float32Array,
  n: number,
  columns: number,
  targets: Float32Array,
  gradient: Float32Array,
  variance = 1,
  coefficient = 1,
): number {
  let loss = 0;
  const share = coefficient / (n * variance);
  for (let i = 0; i < n * columns; i++) {
    const error = means[i] - targets[i];
    loss += error * error;
    gradient[i] += share * error;
  }
  return (coefficient * loss) / (2 * variance * n);
}

/**
 * KL divergence from N(mean, e^logVariance) to the unit normal. Each row of `outputs` holds `size` means, then `size` log-variances.
 * Adds to `gradient`.
 */
export function unitNormalKl(
  outputs: Float32Array,
  n: number,
  size: number,
  gradient: Float32Array,
  coefficient = 1,
): number {
  let loss = 0;
  const share = coefficient / n;
  for (let row = 0; row < n; row++) {
    const at = row * 2 * size;
    for (let i = at; i < at + size; i++) {
      const mean = outputs[i];
      const logVariance = outputs[i + size];
      const variance = Math.exp(logVariance);
      loss += (mean * mean + variance - 1 - logVariance) / 2;
      gradient[i] += share * mean;
      gradient[i + size] += (share * (variance - 1)) / 2;
    }
  }
  return (coefficient * loss) / n;
}

/**
 * KL divergence from N(mean, e^logVariance) to another normal; both are laid out as `unitNormalKl` has it. Adds to the gradient of the first
 * alone: the second is what it is drawn towards.
 */
export function normalKl(
  outputs: Float32Array,
  towards: Float32Array,
  n: number,
  size: number,
  gradient: Float32Array,
  coefficient = 1,
): number {
  let loss = 0;
  const share = coefficient / n;
  for (let row = 0; row < n; row++) {
    const at = row * 2 * size;
    for (let i = at; i < at + size; i++) {
      const apart = outputs[i] - towards[i];
      const precision = Math.exp(-towards[i + size]);
      const ratio = Math.exp(outputs[i + size]) * precision;
      loss += (apart * apart * precision + ratio - 1 - outputs[i + size] + towards[i + size]) / 2;
      gradient[i] += share * apart * precision;
      gradient[i + size] += (share * (ratio - 1)) / 2;
    }
  }
  return (coefficient * loss) / n;
}

/** z = mean + e^(logVariance / 2) noise: fills `sample`, n x size. */
export function reparameterize(
  outputs: Float32Array,
  n: number,
  size: number,
  noise: Float32Array,
  sample: Float32Array,
): void {
  for (let row = 0; row < n; row++) {
    for (let i = 0; i < size; i++) {
      const at = row * 2 * size + i;
      sample[row * size + i] = outputs[at] + Math.exp(outputs[at + size] / 2) * noise[row * size + i];
    }
  }
}

/** The way back through `reparameterize`: adds the gradients by means and log-variances. */
export function reparameterizeGradient(
  outputs: Float32Array,
  n: number,
  size: number,
  noise: Float32Array,
  bySample: Float32Array,
  gradient: Float32Array,
): void {
  for (let row = 0; row < n; row++) {
    for (let i = 0; i < size; i++) {
      const at = row * 2 * size + i;
      const g = bySample[row * size + i];
      gradient[at] += g;
      gradient[at + size] += 0.5 * g * Math.exp(outputs[at + size] / 2) * noise[row * size + i];
    }
  }
}
