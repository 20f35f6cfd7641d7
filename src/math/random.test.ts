import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RandomStream } from './random.ts';

describe('a random stream', () => {
  it('gives the same draws for the same name and others for another', () => {
    const draws = (stream: RandomStream) => Array.from({ length: 8 }, () => stream.int32());
    expect(draws(RandomStream.of(7, 'seat', 2))).toEqual(draws(RandomStream.of(7, 'seat', 2)));
    const names: [number, ...(string | number)[]][] = [
      [7, 'seat', 2],
      [7, 'seat', 3],
      [8, 'seat', 2],
      [7, 'seats', 2],
      [7, 'sea', 't', 2],
      [7 + 2 ** 32, 'seat', 2],
      [7],
    ];
    expect(new Set(names.map((name) => draws(RandomStream.of(...name)).join())).size).toBe(names.length);
  });

  it('goes on from a saved state bit for bit', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(50), (seed, skipped) => {
        const stream = RandomStream.of(seed, 'x');
        for (let i = 0; i < skipped; i++) stream.int32();
        const copy = RandomStream.fromState(JSON.parse(JSON.stringify(stream.state())));
        for (let i = 0; i < 5; i++) expect(copy.int32()).toBe(stream.int32());
      }),
    );
  });

  it('draws whole numbers below a bound uniformly, neighbouring streams included (chi-squared, p = 1e-6)', () => {
    for (const bound of [2, 3, 7, 10]) {
      const counts = new Float64Array(bound);
      const streams = 60_000;
      for (let i = 0; i < streams; i++) counts[RandomStream.of(1, 'world', i).below(bound)]++;
      const chi = counts.reduce((sum, count) => sum + (count - streams / bound) ** 2 / (streams / bound), 0);
      // Upper 1e-6 points of chi-squared with bound - 1 degrees of freedom lie below 24 + 3.2 df.
      expect(chi).toBeLessThan(24 + 3.2 * (bound - 1));
    }
  });

  it('draws uniforms and normals with the right mean and spread', () => {
    const stream = RandomStream.of(5, 'moments');
    const n = 200_000;
    let outside = 0;
    let uniform = 0;
    let normal = 0;
    let square = 0;
    for (let i = 0; i < n; i++) {
      const u = stream.uniform();
      if (!(u >= 0 && u < 1)) outside++;
      uniform += u / n;
      const z = stream.normal();
      normal += z / n;
      square += (z * z) / n;
    }
    expect(outside).toBe(0);
    expect(Math.abs(uniform - 0.5)).toBeLessThan(5 * Math.sqrt(1 / 12 / n));
    expect(Math.abs(normal)).toBeLessThan(5 / Math.sqrt(n));
    expect(Math.abs(square - 1)).toBeLessThan(5 * Math.sqrt(2 / n));
  });

  it('shuffles into a permutation', () => {
    fc.assert(
      fc.property(fc.integer(), fc.nat(40), (seed, length) => {
        const shuffled = RandomStream.of(seed).shuffle(Int32Array.from({ length }, (_, i) => i));
        expect([...shuffled].sort((a, b) => a - b)).toEqual(Array.from({ length }, (_, i) => i));
      }),
    );
  });
});
