import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../math/random.ts';
import {
  bernoulli,
  crossEntropy,
  gaussian,
  normalKl,
  reparameterize,
  reparameterizeGradient,
  unitNormalKl,
} from './loss.ts';

const n = 3;
const stream = RandomStream.of(1, 'losses');
const normals = (count: number) => Float32Array.from({ length: count }, () => stream.normal());

/** Compares a gradient with central differences. Steps are powers of two, so that single precision holds the points exactly enough. */
function checkGradient(at: Float32Array, loss: (x: Float32Array, gradient: Float32Array) => number): void {
  const gradient = new Float32Array(at.length);
  loss(at, gradient);
  for (let i = 0; i < at.length; i++) {
    const shifted = (by: number) => {
      const x = at.slice();
      x[i] += by;
      return { loss: loss(x, new Float32Array(at.length)), x: x[i] };
    };
    const [up, down] = [shifted(2 ** -7), shifted(-(2 ** -7))];
    expect(gradient[i]).toBeCloseTo((up.loss - down.loss) / (up.x - down.x), 4);
  }
}

describe('model losses', () => {
  it('cross-entropy has the gradient of its value, with groups, masks and rows left out', () => {
    const groups = [
      { start: 0, size: 3 },
      { start: 3, size: 4 },
    ];
    const legal = Uint8Array.from({ length: n * 7 }, (_, i) => (i % 5 === 4 ? 0 : 1));
    const targets = Int32Array.of(0, 0, 1, -1, 2, 3);
    checkGradient(normals(n * 7), (x, gradient) => crossEntropy(x, n, 7, groups, targets, gradient, legal, 0.7));
  });

  it('cross-entropy of equal logits is log K, and 0 gradient reaches an illegal column', () => {
    const gradient = new Float32Array(4);
    const loss = crossEntropy(
      new Float32Array(4),
      1,
      4,
      [{ start: 0, size: 4 }],
      Int32Array.of(1),
      gradient,
      Uint8Array.of(1, 1, 0, 1),
    );
    expect(loss).toBeCloseTo(Math.log(3), 12);
    expect([...gradient]).toEqual([1 / 3, -2 / 3, 0, 1 / 3].map((wanted) => expect.closeTo(wanted, 6)));
    expect(gradient[2]).toBe(0);
  });

  it('cross-entropy refuses an illegal target by row and group', () => {
    expect(() =>
      crossEntropy(
        new Float32Array(2),
        1,
        2,
        [{ start: 0, size: 2 }],
        Int32Array.of(1),
        new Float32Array(2),
        Uint8Array.of(1, 0),
      ),
    ).toThrow('row 0, group 0: target 1');
  });

  it('Bernoulli has the gradient of its value and does not overflow', () => {
    const targets = Float32Array.from({ length: n * 5 }, (_, i) => (i % 3) / 2);
    checkGradient(normals(n * 5), (x, gradient) => bernoulli(x, n, 5, targets, gradient, 2));
    expect(bernoulli(Float32Array.of(200, -200), 1, 2, Float32Array.of(1, 0), new Float32Array(2))).toBeLessThan(1e-80);
    expect(bernoulli(Float32Array.of(0), 1, 1, Float32Array.of(1), new Float32Array(1))).toBeCloseTo(Math.LN2, 12);
  });

  it('Gaussian has the gradient of its value', () => {
    const targets = normals(n * 4);
    checkGradient(normals(n * 4), (x, gradient) => gaussian(x, n, 4, targets, gradient, 0.5, 3));
    expect(gaussian(Float32Array.of(3), 1, 1, Float32Array.of(1), new Float32Array(1), 2)).toBe(1);
  });

  it('KL to the unit normal has the gradient of its value and is 0 at the unit normal', () => {
    checkGradient(normals(n * 6), (x, gradient) => unitNormalKl(x, n, 3, gradient, 1.5));
    expect(unitNormalKl(new Float32Array(8), 2, 2, new Float32Array(8))).toBe(0);
    // KL(N(1, 4) || N(0, 1)) = (1 + 4 - 1 - ln 4) / 2.
    expect(unitNormalKl(Float32Array.of(1, Math.log(4)), 1, 1, new Float32Array(2))).toBeCloseTo(
      (4 - Math.log(4)) / 2,
      6,
    );
  });

  it('KL to another normal has the gradient of its value, is 0 at that normal, and agrees with the unit normal', () => {
    const towards = normals(n * 6);
    checkGradient(normals(n * 6), (x, gradient) => normalKl(x, towards, n, 3, gradient, 1.5));
    expect(normalKl(towards, towards, n, 3, new Float32Array(n * 6))).toBeCloseTo(0, 6);
    const outputs = normals(n * 6);
    expect(normalKl(outputs, new Float32Array(n * 6), n, 3, new Float32Array(n * 6))).toBeCloseTo(
      unitNormalKl(outputs, n, 3, new Float32Array(n * 6)),
      5,
    );
    // KL(N(1, 4) || N(3, 9)) = (4 / 9 + 4 / 9 - 1 + ln(9 / 4)) / 2.
    expect(
      normalKl(Float32Array.of(1, Math.log(4)), Float32Array.of(3, Math.log(9)), 1, 1, new Float32Array(2)),
    ).toBeCloseTo((8 / 9 - 1 + Math.log(9 / 4)) / 2, 6);
  });

  it('a sample carries gradients back to mean and log-variance', () => {
    const noise = normals(n * 3);
    const weights = normals(n * 3);
    checkGradient(normals(n * 6), (x, gradient) => {
      const sample = new Float32Array(n * 3);
      reparameterize(x, n, 3, noise, sample);
      reparameterizeGradient(x, n, 3, noise, weights, gradient);
      return sample.reduce((sum, z, i) => sum + z * weights[i], 0);
    });
  });
});
