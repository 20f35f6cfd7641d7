/** What networks by themselves are taught: losses of row-major outputs with their gradients, and probabilities of choices. */
import { exp4, log4, sum2, widen } from './simd';
import { Pass } from './structs';

const BERNOULLI: i32 = 1;
const CHOICE: i32 = 3;
/** Factors of at most 2 whose product is far from overflow: its logarithm is the sum of theirs. */
const FACTORS: i32 = 16;

/** The first `count` of four values; the others are zero. */
@inline
function part4(at: usize, count: i32): v128 {
  if (count >= 4) return v128.load(at);
  let v = v128.load32_zero(at);
  if (count > 1) v = v128.load_lane<f32>(at, v, 1, 4);
  if (count > 2) v = v128.load_lane<f32>(at, v, 2, 8);
  return v;
}

@inline
function storePart4(at: usize, v: v128, count: i32): void {
  if (count >= 4) {
    v128.store(at, v);
    return;
  }
  v128.store_lane<f32>(at, v, 0);
  if (count > 1) v128.store_lane<f32>(at, v, 1, 4);
  if (count > 2) v128.store_lane<f32>(at, v, 2, 8);
}

@inline
function firstLanes(count: i32): v128 {
  return i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(count));
}

/** log(1 + e^z) - target z, without overflow: one exponential serves the value and the gradient. */
function bernoulli(z: usize, targets: usize, gradient: usize, count: i32, share: f32): f64 {
  const one = f32x4.splat(1), zero = f32x4.splat(0);
  let sums = f64x2.splat(0);
  let product = one;
  let factors = 0;
  for (let i = 0; i < count; i += 4) {
    const lanes = count - i;
    const at = <usize>i << 2;
    const logit = part4(z + at, lanes), target = part4(targets + at, lanes);
    const e = exp4(f32x4.sub(zero, f32x4.abs(logit)));
    const whole = f32x4.add(one, e);
    sums = widen(sums, f32x4.sub(f32x4.pmax(logit, zero), f32x4.mul(target, logit)));
    product = f32x4.mul(product, v128.bitselect(whole, one, firstLanes(lanes)));
    if (++factors == FACTORS) {
      sums = widen(sums, log4(product));
      product = one;
      factors = 0;
    }
    const likely = f32x4.div(v128.bitselect(one, e, f32x4.gt(logit, zero)), whole);
    storePart4(gradient + at, f32x4.mul(f32x4.splat(share), f32x4.sub(likely, target)), lanes);
  }
  return sum2(widen(sums, log4(product)));
}

function gaussian(means: usize, targets: usize, gradient: usize, count: i32, share: f32): f64 {
  let sums = f64x2.splat(0);
  for (let i = 0; i < count; i += 4) {
    const at = <usize>i << 2;
    const error = f32x4.sub(part4(means + at, count - i), part4(targets + at, count - i));
    sums = widen(sums, f32x4.mul(error, error));
    storePart4(gradient + at, f32x4.mul(f32x4.splat(share), error), count - i);
  }
  return 0.5 * sum2(sums);
}

/** The largest legal logit of the row that `powers` took last. */
let largest: f32 = 0;

/** Exponentials of a row's legal logits above the largest of them; zero for the others. Returns their sum. */
function powers(z: usize, legal: i32, columns: i32, to: usize): f32 {
  let most: f32 = -Infinity;
  for (let c = 0; c < columns; c++) {
    const logit = load<f32>(z + (<usize>c << 2));
    if ((!legal || (legal >> c) & 1) && !(logit <= most)) most = logit;
  }
  let sums = f32x4.splat(0);
  for (let c = 0; c < columns; c += 4) {
    const at = <usize>c << 2;
    const bits = v128.and(i32x4.splat(legal ? legal >> c : -1), i32x4(1, 2, 4, 8));
    const there = v128.and(firstLanes(columns - c), i32x4.ne(bits, i32x4.splat(0)));
    const power = v128.and(exp4(f32x4.sub(part4(z + at, columns - c), f32x4.splat(most))), there);
    sums = f32x4.add(sums, power);
    storePart4(to + at, power, columns - c);
  }
  largest = most;
  const low = f32x4.extract_lane(sums, 0) + f32x4.extract_lane(sums, 1);
  return low + (f32x4.extract_lane(sums, 2) + f32x4.extract_lane(sums, 3));
}

/** Cross-entropy of each row's right choice; a row whose target is negative is left out. */
function choices(z: usize, targets: usize, legal: usize, gradient: usize, rows: i32, columns: i32, share: f32): f64 {
  let loss: f64 = 0;
  const bytes = <usize>columns << 2;
  for (let row = 0; row < rows; row++) {
    const target = load<i32>(targets + (<usize>row << 2));
    if (target < 0) memory.fill(gradient, 0, bytes);
    else {
      const sum = powers(z, load<i32>(legal + (<usize>row << 2)), columns, gradient);
      const scale = share / sum;
      const logSum = f32x4.extract_lane(log4(f32x4.splat(sum)), 0);
      loss += <f64>(largest + logSum - load<f32>(z + (<usize>target << 2)));
      for (let at = gradient, end = gradient + bytes; at < end; at += 4) store<f32>(at, load<f32>(at) * scale);
      const right = gradient + (<usize>target << 2);
      store<f32>(right, load<f32>(right) - share);
    }
    z += bytes;
    gradient += bytes;
  }
  return loss;
}

/** Each row's probabilities, `stride` apart; zeros where `legal` is negative. */
export function shares(z: usize, legal: usize, out: usize, rows: i32, columns: i32, stride: i32): void {
  const bytes = <usize>columns << 2;
  for (let row = 0; row < rows; row++) {
    const bits = load<i32>(legal + (<usize>row << 2));
    if (bits < 0) memory.fill(out, 0, bytes);
    else {
      const sum = powers(z, bits, columns, out);
      for (let at = out, end = out + bytes; at < end; at += 4) store<f32>(at, load<f32>(at) / sum);
    }
    z += bytes;
    out += <usize>stride << 2;
  }
}

/** The loss of rows first .. first + rows, and its gradient by their outputs. */
export function lossOf(pass: Pass, columns: i32, first: i32, rows: i32): f64 {
  const at = <usize>(first * columns) << 2;
  const row = <usize>first << 2;
  const y = pass.y + at, gradient = pass.gradOut + at;
  if (pass.loss == CHOICE) return choices(y, pass.targets + row, pass.legal + row, gradient, rows, columns, pass.share);
  if (pass.loss == BERNOULLI) return bernoulli(y, pass.targets + at, gradient, rows * columns, pass.share);
  return gaussian(y, pass.targets + at, gradient, rows * columns, pass.share);
}
