/** Four-lane arithmetic: fused where the variant allows it, and exp, log and tanh as polynomials fitted for single precision. */

// Constants are read from memory, one instruction each. A constant in the code is built anew by three instructions in every turn of a loop.
const EXP = memory.data<f32>([
  -87.0, 88.0, 1.4426950408889634, 12582912.0, -0.693359375, 0.00021219444005469058, 0.0013813143341426734, 0.00836941894936224,
  0.04166845681230863, 0.16666514790150658, 0.49999993050597696, 1.0,
]);
const LOG = memory.data<f32>([
  1.0, 0.0674661892697583, -0.11675646000783405, 0.11888169045081264, -0.12405590299421838, 0.14219551563736516,
  -0.16667995750873274, 0.20002118699035407, -0.2500000960174383, 0.333333126033726, -0.00021219444005469058, -0.5, 0.693359375,
]);
const TANH = memory.data<f32>([
  -9.02, 9.02, 1.3318970541670594e-8, 0.00002058340587082864, 0.0034940299435221966, 0.13379714065938572, 1.0,
  7.761977195893155e-7, 0.0003283085300452755, 0.02587105566152963, 0.46713029309976317, -1.0,
]);

@inline
function constant(table: usize, index: usize): v128 {
  return v128.load32_splat(table + (index << 2));
}

/** a * b + c: one rounding in the relaxed variant, two in the plain one. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/** e^x. The range is cut at +-87, so that powers of two stay normal numbers; NaN stays NaN. */
@inline
export function exp4(x: v128): v128 {
  x = f32x4.pmin(f32x4.pmax(x, constant(EXP, 0)), constant(EXP, 1));
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const rounded = madd(x, constant(EXP, 2), constant(EXP, 3));
  const whole = f32x4.sub(rounded, constant(EXP, 3));
  // ln 2 in two parts; the first has so few bits that its product is exact.
  let r = madd(whole, constant(EXP, 4), x);
  r = madd(whole, constant(EXP, 5), r);
  let p = madd(r, constant(EXP, 6), constant(EXP, 7));
  p = madd(p, r, constant(EXP, 8));
  p = madd(p, r, constant(EXP, 9));
  p = madd(p, r, constant(EXP, 10));
  p = madd(f32x4.mul(p, r), r, r);
  p = f32x4.add(p, constant(EXP, 11));
  return i32x4.add(p, i32x4.shl(rounded, 23));
}

/** ln x for normal positive x. */
@inline
export function log4(x: v128): v128 {
  // The exponent is chosen so that the rest lies between the square roots of 1/2 and 2.
  const shifted = i32x4.sub(x, i32x4.splat(0x3f3504f3));
  const exponent = f32x4.convert_i32x4_s(i32x4.shr_s(shifted, 23));
  const mantissa = i32x4.add(v128.and(shifted, i32x4.splat(0x007fffff)), i32x4.splat(0x3f3504f3));
  const f = f32x4.sub(mantissa, constant(LOG, 0));
  let p = madd(f, constant(LOG, 1), constant(LOG, 2));
  p = madd(p, f, constant(LOG, 3));
  p = madd(p, f, constant(LOG, 4));
  p = madd(p, f, constant(LOG, 5));
  p = madd(p, f, constant(LOG, 6));
  p = madd(p, f, constant(LOG, 7));
  p = madd(p, f, constant(LOG, 8));
  p = madd(p, f, constant(LOG, 9));
  const square = f32x4.mul(f, f);
  let small = f32x4.mul(f32x4.mul(p, f), square);
  small = madd(exponent, constant(LOG, 10), small);
  small = madd(square, constant(LOG, 11), small);
  return madd(exponent, constant(LOG, 12), f32x4.add(f, small));
}

/**
 * Replaces the pairs of vectors at `at` and `at + gap`, `step` bytes from pair to pair, by their tanh, a quotient of polynomials; beyond
 * +-9.02 it is 1 in single precision, and no rounding takes it past 1.
 */
export function tanhPairs(at: usize, end: usize, gap: usize, step: usize): void {
  const least = constant(TANH, 0), most = constant(TANH, 1);
  const p0 = constant(TANH, 2), p1 = constant(TANH, 3), p2 = constant(TANH, 4), p3 = constant(TANH, 5);
  const one = constant(TANH, 6), minusOne = constant(TANH, 11);
  const q0 = constant(TANH, 7), q1 = constant(TANH, 8), q2 = constant(TANH, 9), q3 = constant(TANH, 10);
  for (; at < end; at += step) {
    const x = f32x4.pmin(f32x4.pmax(v128.load(at), least), most);
    const y = f32x4.pmin(f32x4.pmax(v128.load(at + gap), least), most);
    const u = f32x4.mul(x, x);
    const v = f32x4.mul(y, y);
    const p = f32x4.mul(x, madd(madd(madd(madd(u, p0, p1), u, p2), u, p3), u, one));
    const q = f32x4.mul(y, madd(madd(madd(madd(v, p0, p1), v, p2), v, p3), v, one));
    const r = madd(madd(madd(madd(u, q0, q1), u, q2), u, q3), u, one);
    const s = madd(madd(madd(madd(v, q0, q1), v, q2), v, q3), v, one);
    v128.store(at, f32x4.pmax(f32x4.pmin(f32x4.div(p, r), one), minusOne));
    v128.store(at + gap, f32x4.pmax(f32x4.pmin(f32x4.div(q, s), one), minusOne));
  }
}

/** The lanes as doubles added to a pair of running sums. */
@inline
export function widen(sums: v128, v: v128): v128 {
  const low = f64x2.promote_low_f32x4(v);
  const high = f64x2.promote_low_f32x4(v128.shuffle<u32>(v, v, 2, 3, 2, 3));
  return f64x2.add(f64x2.add(sums, low), high);
}

@inline
export function sum2(v: v128): f64 {
  return f64x2.extract_lane(v, 0) + f64x2.extract_lane(v, 1);
}
