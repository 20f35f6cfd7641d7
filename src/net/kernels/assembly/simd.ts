/** Four-lane arithmetic: fused where the variant allows it, and exp, log and tanh as polynomials fitted for single precision. */

/** a * b + c: one rounding in the relaxed variant, two in the plain one. */
@inline
export function madd(a: v128, b: v128, c: v128): v128 {
  return ASC_FEATURE_RELAXED_SIMD ? f32x4.relaxed_madd(a, b, c) : f32x4.add(f32x4.mul(a, b), c);
}

/** e^x. The range is cut at +-87, so that powers of two stay normal numbers; NaN stays NaN. */
@inline
export function exp4(x: v128): v128 {
  x = f32x4.pmin(f32x4.pmax(x, f32x4.splat(-87.0)), f32x4.splat(88.0));
  // Adding 1.5 * 2^23 rounds to a whole number, which then stands in the low bits.
  const rounded = madd(x, f32x4.splat(1.4426950408889634), f32x4.splat(12582912.0));
  const whole = f32x4.sub(rounded, f32x4.splat(12582912.0));
  // ln 2 in two parts; the first has so few bits that its product is exact.
  let r = madd(whole, f32x4.splat(-0.693359375), x);
  r = madd(whole, f32x4.splat(0.00021219444005469058), r);
  let p = madd(r, f32x4.splat(0.0013813143341426734), f32x4.splat(0.00836941894936224));
  p = madd(p, r, f32x4.splat(0.04166845681230863));
  p = madd(p, r, f32x4.splat(0.16666514790150658));
  p = madd(p, r, f32x4.splat(0.49999993050597696));
  p = madd(f32x4.mul(p, r), r, r);
  p = f32x4.add(p, f32x4.splat(1.0));
  return i32x4.add(p, i32x4.shl(rounded, 23));
}

/** ln x for normal positive x. */
@inline
export function log4(x: v128): v128 {
  // The exponent is chosen so that the rest lies between the square roots of 1/2 and 2.
  const shifted = i32x4.sub(x, i32x4.splat(0x3f3504f3));
  const exponent = f32x4.convert_i32x4_s(i32x4.shr_s(shifted, 23));
  const mantissa = i32x4.add(v128.and(shifted, i32x4.splat(0x007fffff)), i32x4.splat(0x3f3504f3));
  const f = f32x4.sub(mantissa, f32x4.splat(1.0));
  let p = madd(f, f32x4.splat(0.0674661892697583), f32x4.splat(-0.11675646000783405));
  p = madd(p, f, f32x4.splat(0.11888169045081264));
  p = madd(p, f, f32x4.splat(-0.12405590299421838));
  p = madd(p, f, f32x4.splat(0.14219551563736516));
  p = madd(p, f, f32x4.splat(-0.16667995750873274));
  p = madd(p, f, f32x4.splat(0.20002118699035407));
  p = madd(p, f, f32x4.splat(-0.2500000960174383));
  p = madd(p, f, f32x4.splat(0.333333126033726));
  const square = f32x4.mul(f, f);
  let small = f32x4.mul(f32x4.mul(p, f), square);
  small = madd(exponent, f32x4.splat(-0.00021219444005469058), small);
  small = madd(square, f32x4.splat(-0.5), small);
  return madd(exponent, f32x4.splat(0.693359375), f32x4.add(f, small));
}

/**
 * Replaces the two vectors at `at` and `at + step` by their tanh, a quotient of polynomials; beyond +-9.02 it is 1 in single precision,
 * and no rounding takes it past 1. Two at a time, because each constant then serves twice.
 */
@inline
export function tanhPair(at: usize, step: usize): void {
  let c = f32x4.splat(-9.02);
  let x = f32x4.pmax(v128.load(at), c);
  let y = f32x4.pmax(v128.load(at + step), c);
  c = f32x4.splat(9.02);
  x = f32x4.pmin(x, c);
  y = f32x4.pmin(y, c);
  const u = f32x4.mul(x, x);
  const v = f32x4.mul(y, y);
  c = f32x4.splat(1.3318970541670594e-8);
  let d = f32x4.splat(0.00002058340587082864);
  let p = madd(u, c, d);
  let q = madd(v, c, d);
  c = f32x4.splat(0.0034940299435221966);
  p = madd(p, u, c);
  q = madd(q, v, c);
  c = f32x4.splat(0.13379714065938572);
  p = madd(p, u, c);
  q = madd(q, v, c);
  const one = f32x4.splat(1);
  p = f32x4.mul(x, madd(p, u, one));
  q = f32x4.mul(y, madd(q, v, one));
  c = f32x4.splat(7.761977195893155e-7);
  d = f32x4.splat(0.0003283085300452755);
  let r = madd(u, c, d);
  let s = madd(v, c, d);
  c = f32x4.splat(0.02587105566152963);
  r = madd(r, u, c);
  s = madd(s, v, c);
  c = f32x4.splat(0.46713029309976317);
  r = madd(r, u, c);
  s = madd(s, v, c);
  p = f32x4.pmin(f32x4.div(p, madd(r, u, one)), one);
  q = f32x4.pmin(f32x4.div(q, madd(s, v, one)), one);
  c = f32x4.splat(-1);
  v128.store(at, f32x4.pmax(p, c));
  v128.store(at + step, f32x4.pmax(q, c));
}

export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x)), 0);
}

export function log1(x: f32): f32 {
  return f32x4.extract_lane(log4(f32x4.splat(x)), 0);
}

/** The four lanes' sum, always added in the same order. */
@inline
export function sum4(v: v128): f32 {
  return (
    f32x4.extract_lane(v, 0) + f32x4.extract_lane(v, 1) + (f32x4.extract_lane(v, 2) + f32x4.extract_lane(v, 3))
  );
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
