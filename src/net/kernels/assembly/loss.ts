/** Losses of rows and their gradients by the networks' outputs: four decisions at a time, one in each lane, or one value. */
import { floatAt, intAt, outputAddress, placeOf, rowNumber } from './columns';
import { distanceOf, distribution, entropies, logSums, sums } from './distribution';
import { layerAt } from './network';
import { exp4, sum2 } from './simd';
import { Job } from './structs';

/** Minus infinity as bits. */
const NONE: i32 = 0xff800000;

/**
 * Gathers the logits of the block's rows [i, i + 4) in the order of their candidates, one row in each lane, as `distribution` takes them;
 * `item` is the place in the block of the first row's first candidate. Returns the most candidates of one of the rows.
 */
export function gatherLogits(job: Job, scratch: usize, first: i32, i: i32, rows: i32, item: i32): i32 {
  const net = job.actor;
  const lines = layerAt(net, net.count - 1).outputs4;
  const base = scratch + net.output;
  const z = scratch + net.local;
  const end = min(i + 4, rows);
  let most = 0;
  for (let r = i; r < end; r++) {
    const row = rowNumber(job, first + r);
    most = max(most, intAt(job.offsets, row + 1) - intAt(job.offsets, row));
  }
  for (let j = 0; j < most; j++) v128.store(z + (<usize>j << 4), f32x4.splat(-Infinity));
  for (let r = i; r < end; r++) {
    const row = rowNumber(job, first + r);
    const start = intAt(job.offsets, row);
    const count = intAt(job.offsets, row + 1) - start;
    const logits = outputAddress(base, lines, r, 0);
    const keep = job.outLogits ? job.outLogits + (<usize>intAt(job.outOffsets, placeOf(job, first + r)) << 2) : 0;
    let to = z + (<usize>(r - i) << 2);
    for (let j = 0; j < count; j++) {
      const from = net.pointer
        ? outputAddress(base, lines, item + j, 0)
        : logits + (<usize>intAt(job.subset, start + j) << 5);
      const logit = load<f32>(from);
      if (keep) store<f32>(keep + (<usize>j << 2), logit);
      // Whether a candidate is legal cannot be foretold, so that a branch would often be taken in vain.
      const legal = -(<i32>(load<u8>(job.legal + <usize>(start + j)) != 0));
      store<i32>(to, NONE ^ ((reinterpret<i32>(logit * job.inverseTemperature) ^ NONE) & legal));
      to += 16;
    }
    item += count;
  }
  return most;
}

// Sums of one lane, two doubles each.
let policyLoss: v128 = i32x4(0, 0, 0, 0);
let entropy: v128 = i32x4(0, 0, 0, 0);
let k1: v128 = i32x4(0, 0, 0, 0);
let k2: v128 = i32x4(0, 0, 0, 0);
let k3: v128 = i32x4(0, 0, 0, 0);
let clipped: v128 = i32x4(0, 0, 0, 0);
let ratioSum: v128 = i32x4(0, 0, 0, 0);
let ratioSquares: v128 = i32x4(0, 0, 0, 0);

export function clearStatistics(): void {
  policyLoss = entropy = k1 = k2 = k3 = clipped = ratioSum = ratioSquares = i32x4(0, 0, 0, 0);
}

export function storeStatistics(to: usize): void {
  store<f64>(to, sum2(policyLoss));
  store<f64>(to, sum2(entropy), 8);
  store<f64>(to, sum2(k1), 16);
  store<f64>(to, sum2(k2), 24);
  store<f64>(to, sum2(k3), 32);
  store<f64>(to, sum2(clipped), 40);
  store<f64>(to, sum2(ratioSum), 48);
  store<f64>(to, sum2(ratioSquares), 56);
}

/** Adds two rows' figures, the low lanes of each vector. */
function addStatistics(weight: v128, gain: v128, rowEntropy: v128, logRatio: v128, ratio: v128, outside: v128): void {
  const w = f64x2.promote_low_f32x4(weight);
  const d = f64x2.promote_low_f32x4(logRatio);
  const one = f64x2.splat(1);
  const half = f64x2.splat(0.5);
  const excess = f64x2.sub(f64x2.promote_low_f32x4(ratio), one);
  const wd = f64x2.mul(w, d);
  policyLoss = f64x2.sub(policyLoss, f64x2.mul(w, f64x2.promote_low_f32x4(gain)));
  entropy = f64x2.add(entropy, f64x2.mul(w, f64x2.promote_low_f32x4(rowEntropy)));
  k1 = f64x2.sub(k1, wd);
  k2 = f64x2.add(k2, f64x2.mul(half, f64x2.mul(wd, d)));
  // The ratio is rounded to single precision, of which a small log-ratio leaves nothing in ratio - 1 - d; there a series stands for it.
  let series = f64x2.add(f64x2.splat(1.0 / 720), f64x2.mul(d, f64x2.splat(1.0 / 5040)));
  series = f64x2.add(f64x2.splat(1.0 / 120), f64x2.mul(d, series));
  series = f64x2.add(f64x2.splat(1.0 / 24), f64x2.mul(d, series));
  series = f64x2.add(f64x2.splat(1.0 / 6), f64x2.mul(d, series));
  series = f64x2.mul(f64x2.mul(d, d), f64x2.add(half, f64x2.mul(d, series)));
  const small = f64x2.lt(f64x2.abs(d), f64x2.splat(0.0625));
  k3 = f64x2.add(k3, f64x2.mul(w, v128.bitselect(series, f64x2.sub(excess, d), small)));
  clipped = f64x2.add(clipped, f64x2.promote_low_f32x4(v128.and(weight, outside)));
  const we = f64x2.mul(w, excess);
  ratioSum = f64x2.add(ratioSum, we);
  ratioSquares = f64x2.add(ratioSquares, f64x2.mul(we, excess));
}

@inline
function upper(v: v128): v128 {
  return v128.shuffle<u32>(v, v, 2, 3, 2, 3);
}

/**
 * Loss of the block's rows [i, i + 4), and its gradient by their logits, added to `deltaA`. Rows from `rows` on are not there and weigh
 * nothing. Returns the number of the rows' candidates.
 */
export function policyRows(job: Job, scratch: usize, lines: i32, first: i32, i: i32, rows: i32, item: i32): i32 {
  const net = job.actor;
  const z = scratch + net.local;
  const e = scratch + net.localProbability;
  // Four figures of each row, in lanes.
  const figures = scratch + net.rowFigures;
  const end = min(i + 4, rows);
  const most = gatherLogits(job, scratch, first, i, rows, item);
  distribution(z, e, most);
  for (let f: usize = 0; f < 64; f += 16) v128.store(figures + f, f32x4.splat(0));
  for (let r = i; r < end; r++) {
    const row = rowNumber(job, first + r);
    const lane = <usize>(r - i) << 2;
    const count = intAt(job.offsets, row + 1) - intAt(job.offsets, row);
    store<f32>(figures + lane, distanceOf(z + lane, count, intAt(job.action, row)));
    store<f32>(figures + lane, floatAt(job.oldLogp, row), 16);
    store<f32>(figures + lane, floatAt(job.advantage, row), 32);
    store<f32>(figures + lane, job.weight ? floatAt(job.weight, row) : 1, 48);
  }

  const logp = f32x4.sub(v128.load(figures), logSums);
  const weight = v128.load(figures, 48);
  const advantage = f32x4.mul(v128.load(figures, 32), f32x4.splat(job.advantageScale));
  const logRatio = f32x4.sub(logp, v128.load(figures, 16));
  const ratio = exp4(logRatio);
  const free = f32x4.mul(ratio, advantage);
  const within = f32x4.pmin(f32x4.pmax(ratio, f32x4.splat(1 - job.clip)), f32x4.splat(1 + job.clip));
  const bounded = f32x4.mul(within, advantage);
  const held = f32x4.gt(free, bounded);
  const gain = v128.bitselect(bounded, free, held);
  const outside = f32x4.gt(f32x4.abs(f32x4.sub(ratio, f32x4.splat(1))), f32x4.splat(job.clip));
  addStatistics(weight, gain, entropies, logRatio, ratio, outside);
  addStatistics(upper(weight), upper(gain), upper(entropies), upper(logRatio), upper(ratio), upper(outside));

  const share = f32x4.mul(weight, f32x4.splat(job.inverseWeight * job.inverseTemperature));
  const byLogp = v128.andnot(f32x4.mul(f32x4.neg(free), share), held);
  const byEntropy = f32x4.mul(f32x4.splat(job.entropyCoefficient), share);
  const inverse = f32x4.div(f32x4.splat(1), sums);
  const none = f32x4.splat(-Infinity);
  const shift = f32x4.sub(entropies, logSums);
  for (let j: usize = 0; j < <usize>most << 4; j += 16) {
    const distance = v128.load(z + j);
    const probability = f32x4.mul(v128.load(e + j), inverse);
    const slope = f32x4.sub(f32x4.mul(byEntropy, f32x4.add(distance, shift)), byLogp);
    // Minus infinity stands where nothing may be chosen.
    v128.store(e + j, v128.and(f32x4.mul(probability, slope), f32x4.ne(distance, none)));
  }
  v128.store(figures, logp);
  v128.store(figures, entropies, 16);
  v128.store(figures, byLogp, 32);

  const delta = scratch + net.deltaA;
  let items = item;
  for (let r = i; r < end; r++) {
    const row = rowNumber(job, first + r);
    const lane = <usize>(r - i) << 2;
    const start = intAt(job.offsets, row);
    const count = intAt(job.offsets, row + 1) - start;
    const action = intAt(job.action, row);
    const place = <usize>placeOf(job, first + r) << 2;
    store<f32>(job.outLogp + place, load<f32>(figures + lane));
    store<f32>(job.outEntropy + place, load<f32>(figures + lane, 16));
    if (<u32>action < <u32>count && load<u8>(job.legal + <usize>(start + action))) {
      const at = e + (<usize>action << 4) + lane;
      store<f32>(at, load<f32>(at) + load<f32>(figures + lane, 32));
    }
    const outputs = outputAddress(delta, lines, r, 0);
    for (let j = 0; j < count; j++) {
      const to = net.pointer
        ? outputAddress(delta, lines, items + j, 0)
        : outputs + (<usize>intAt(job.subset, start + j) << 5);
      store<f32>(to, load<f32>(to) + load<f32>(e + (<usize>j << 4) + lane));
    }
    items += count;
  }
  return items - item;
}

@inline
export function valueLoss(job: Job, error: f32): f32 {
  if (!job.huber) return error * error;
  const size = abs(error);
  return size <= job.huberDelta ? 0.5 * error * error : job.huberDelta * (size - 0.5 * job.huberDelta);
}

@inline
export function valueSlope(job: Job, error: f32): f32 {
  if (!job.huber) return 2 * error;
  return min(max(error, -job.huberDelta), job.huberDelta);
}
