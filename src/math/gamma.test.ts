import { describe, expect, it } from 'vitest';
import { digamma, logGamma, trigamma } from './gamma.ts';

describe('the gamma function', () => {
  it.each([
    [0.5, Math.log(Math.sqrt(Math.PI))],
    [1, 0],
    [2, 0],
    [5, Math.log(24)],
    [30, 71.25703896716801],
  ])('of %s', (x, value) => expect(logGamma(x)).toBeCloseTo(value, 11));

  it.each([
    [1, -0.5772156649015329],
    [0.5, -0.5772156649015329 - 2 * Math.LN2],
    [10, 2.251752589066721],
  ])('has the derivative of %s', (x, value) => expect(digamma(x)).toBeCloseTo(value, 11));

  it.each([
    [1, Math.PI ** 2 / 6],
    [0.5, Math.PI ** 2 / 2],
  ])('has the second derivative of %s', (x, value) => expect(trigamma(x)).toBeCloseTo(value, 11));
});
