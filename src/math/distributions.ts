/** Tail probabilities and quantiles of the distributions that tests need. Tails are computed as tails, so a p-value of 1e-12 is not lost in 1 minus something. */
import { pchisq, pnorm, pt, qchisq, qnorm, qt } from 'lib-r-math.js';

/** P(Z > z). */
export const normalTail = (z: number): number => pnorm(z, 0, 1, false);
/** P(|Z| > |z|). */
export const normalTwoSided = (z: number): number => Math.min(1, 2 * pnorm(Math.abs(z), 0, 1, false));
/** The z with P(Z > z) = `tail`. */
export const normalQuantile = (tail: number): number => qnorm(tail, 0, 1, false);
/** P(X > x) for a chi-square variable, central unless `shift` says how far it is not. */
export const chiSquareTail = (x: number, freedom: number, shift = 0): number =>
  shift > 0 ? pchisq(x, freedom, shift, false) : pchisq(x, freedom, undefined, false);
export const chiSquareQuantile = (tail: number, freedom: number): number => qchisq(tail, freedom, undefined, false);
/** P(T > t). */
export const studentTail = (t: number, freedom: number): number => pt(t, freedom, undefined, false);
export const studentTwoSided = (t: number, freedom: number): number =>
  Math.min(1, 2 * pt(Math.abs(t), freedom, undefined, false));
export const studentQuantile = (tail: number, freedom: number): number => qt(tail, freedom, undefined, false);
