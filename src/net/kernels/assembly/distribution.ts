/** The one distribution over a row's candidates, for sampling, replay and update. An illegal candidate has probability 0 and no entropy. */
import { exp4, log1, madd, sum4 } from './simd';

/** Logarithm of the sum of the latest row's exponentials; their distances to the largest logit stay in the row's buffer. */
export let logSum: f32 = 0;
export let sum: f32 = 0;

/**
 * On entry z[0 .. count) holds the row's logits. On return it holds (logit - largest) / temperature, minus infinity where illegal, and
 * `e` its exponential; both are filled up to a multiple of four. Returns the entropy.
 */
export function distribution(z: usize, e: usize, legal: usize, count: i32, inverseTemperature: f32): f32 {
  let largest: f32 = -Infinity;
  for (let i = 0; i < count; i++) {
    const at = z + (<usize>i << 2);
    let value: f32 = -Infinity;
    if (load<u8>(legal + <usize>i)) {
      value = load<f32>(at) * inverseTemperature;
      if (value > largest) largest = value;
    }
    store<f32>(at, value);
  }
  const rounded = (count + 3) & ~3;
  for (let i = count; i < rounded; i++) store<f32>(z + (<usize>i << 2), -Infinity);
  const top = f32x4.splat(largest);
  let sums = f32x4.splat(0);
  let products = f32x4.splat(0);
  for (let i: usize = 0; i < <usize>rounded << 2; i += 16) {
    const value = v128.load(z + i);
    const mask = f32x4.ne(value, f32x4.splat(-Infinity));
    const distance = f32x4.sub(value, top);
    const exponential = v128.and(exp4(distance), mask);
    v128.store(z + i, v128.bitselect(distance, value, mask));
    v128.store(e + i, exponential);
    sums = f32x4.add(sums, exponential);
    products = madd(exponential, v128.and(distance, mask), products);
  }
  sum = sum4(sums);
  if (sum == 0) {
    // No legal candidate: there is nothing to choose, and every log-probability is minus infinity.
    logSum = 0;
    return 0;
  }
  logSum = log1(sum);
  return logSum - sum4(products) / sum;
}

/** The first candidate at which the running sum passes u of the whole; never one of probability 0. */
export function sample(e: usize, count: i32, u: f32): i32 {
  let total: f64 = 0;
  for (let i = 0; i < count; i++) total += load<f32>(e + (<usize>i << 2));
  const target = <f64>u * total;
  let running: f64 = 0;
  let chosen = 0;
  for (let i = 0; i < count; i++) {
    const share = load<f32>(e + (<usize>i << 2));
    if (!(share > 0)) continue;
    chosen = i;
    running += share;
    if (running > target) return i;
  }
  return chosen;
}

/** Log-probability of the candidate; minus infinity for an index that is none of the row's. */
@inline
export function logProbability(z: usize, count: i32, action: i32): f32 {
  return <u32>action < <u32>count ? load<f32>(z + (<usize>action << 2)) - logSum : -Infinity;
}
