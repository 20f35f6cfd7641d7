/**
 * The one distribution over a row's candidates, for sampling, replay and update. Four rows go together, one in each lane, and a row's
 * figures never depend on the other three. An illegal candidate has probability 0 and no entropy.
 */
import { exp4, log4, madd } from './simd';

// Of the latest four rows: the sum of their exponentials, its logarithm, and the entropy.
export let sums: v128 = i32x4(0, 0, 0, 0);
export let logSums: v128 = i32x4(0, 0, 0, 0);
export let entropies: v128 = i32x4(0, 0, 0, 0);

/**
 * On entry z[candidate][row] holds logits / temperature, minus infinity where a candidate is illegal or not there. On return it holds their
 * distances to the row's largest, and `e` the exponentials.
 */
export function distribution(z: usize, e: usize, most: i32): void {
  const bytes = <usize>most << 4;
  const none = f32x4.splat(-Infinity);
  let top = none;
  for (let i: usize = 0; i < bytes; i += 16) top = f32x4.pmax(top, v128.load(z + i));
  let total = f32x4.splat(0);
  let products = total;
  for (let i: usize = 0; i < bytes; i += 16) {
    const value = v128.load(z + i);
    const mask = f32x4.ne(value, none);
    const distance = f32x4.sub(value, top);
    const exponential = v128.and(exp4(distance), mask);
    v128.store(z + i, v128.bitselect(distance, value, mask));
    v128.store(e + i, exponential);
    total = f32x4.add(total, exponential);
    products = madd(exponential, v128.and(distance, mask), products);
  }
  // Without a legal candidate there is nothing to choose, and every log-probability is minus infinity.
  const empty = f32x4.eq(total, f32x4.splat(0));
  sums = total;
  logSums = v128.andnot(log4(total), empty);
  entropies = v128.andnot(f32x4.sub(logSums, f32x4.div(products, total)), empty);
}

/** The first candidate of one row at which the running sum passes u of the whole; never one of probability 0. `e` is the row's first. */
export function sample(e: usize, count: i32, u: f32): i32 {
  let total: f64 = 0;
  for (let i = 0; i < count; i++) total += load<f32>(e + (<usize>i << 4));
  const target = <f64>u * total;
  let running: f64 = 0;
  let chosen = 0;
  for (let i = 0; i < count; i++) {
    const share = load<f32>(e + (<usize>i << 4));
    if (!(share > 0)) continue;
    chosen = i;
    running += share;
    if (running > target) return i;
  }
  return chosen;
}

/** Distance of one row's candidate from the largest; minus infinity for an index that is none of the row's. `z` is the row's first. */
@inline
export function distanceOf(z: usize, count: i32, action: i32): f32 {
  return <u32>action < <u32>count ? load<f32>(z + (<usize>action << 4)) : -Infinity;
}
