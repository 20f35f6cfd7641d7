import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { entropy, localPolicy, localPolicyBuffer, logProbability, sampleIndex } from './local-policy.ts';

describe('localPolicy', () => {
  it('gathers candidates from the global logits in subset order, scaled by the temperature', () => {
    const out = localPolicyBuffer(3);
    const h = localPolicy([0, Math.log(4), 5, Math.log(16)], [3, 0, 1], null, 2, out);
    // Weights 4, 1 and 2.
    expect([...out.probabilities].map((p) => p * 7)).toEqual([
      expect.closeTo(4, 12),
      expect.closeTo(1, 12),
      expect.closeTo(2, 12),
    ]);
    expect(h).toBeCloseTo(-(4 / 7) * Math.log(4 / 7) - (1 / 7) * Math.log(1 / 7) - (2 / 7) * Math.log(2 / 7), 12);
    expect(out.logProbabilities[2]).toBeCloseTo(Math.log(2 / 7), 12);
  });

  it('gives an illegal candidate probability 0 and no part in the entropy', () => {
    const out = localPolicyBuffer(3);
    expect(localPolicy([1, 100, 1], null, [true, false, true], 1, out)).toBeCloseTo(Math.LN2, 12);
    expect([...out.probabilities]).toEqual([expect.closeTo(0.5, 12), 0, expect.closeTo(0.5, 12)]);
    expect(out.logProbabilities[1]).toBe(-Infinity);
    expect(logProbability([1, 100, 1], null, [1, 0, 1], 1)).toBe(-Infinity);
    expect(logProbability([1, 100, 1], null, [1, 0, 1], 3)).toBe(-Infinity);
    expect(entropy([1, 100, 1], null, [1, 0, 1])).toBeCloseTo(Math.LN2, 12);
  });

  it('works on rows inside longer columns', () => {
    const out = localPolicyBuffer(6);
    const logits = [9, 9, 0, Math.log(3), 9];
    localPolicy(logits, [0, 0, 1, 0], [0, 0, 1, 1], 1, out, { start: 2, count: 2, logitsStart: 2, at: 4 });
    expect(out.probabilities[4]).toBeCloseTo(0.75, 12);
    expect(out.probabilities[5]).toBeCloseTo(0.25, 12);
    localPolicy(logits, null, null, 1, out, { start: 2, count: 2 });
    expect(out.probabilities[1]).toBeCloseTo(0.75, 12);
  });

  it('keeps its figures for very large and very small logits, and NaN stays NaN', () => {
    expect(logProbability([1e4, 0], null, null, 1)).toBe(-1e4);
    expect(entropy([1e300, -1e300], null, null)).toBe(0);
    expect(entropy([0, Number.NaN], null, null)).toBeNaN();
    expect(logProbability([0, 0], null, [0, 0], 1)).toBe(-Infinity);
    expect(() => entropy([0], null, null, 0)).toThrow('temperature is 0');
  });

  it('gives the members of a subset the same probabilities in any order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: -20, max: 20, noNaN: true }), { minLength: 2, maxLength: 12 }),
        fc.infiniteStream(fc.nat()),
        (logits, keys) => {
          const ids = logits.map((_, id) => id);
          const order = [...ids]
            .map((id) => ({ id, key: keys.next().value }))
            .sort((a, b) => a.key - b.key)
            .map(({ id }) => id);
          const [plain, mixed] = [localPolicyBuffer(12), localPolicyBuffer(12)];
          localPolicy(logits, ids, null, 1, plain);
          localPolicy(logits, order, null, 1, mixed);
          order.forEach((id, position) => {
            expect(mixed.probabilities[position]).toBeCloseTo(plain.probabilities[id], 12);
          });
        },
      ),
    );
  });
});

describe('sampleIndex', () => {
  it('takes the first candidate at which the running sum passes the uniform, never one of probability 0', () => {
    const p = Float64Array.of(0, 0.25, 0, 0.75, 0);
    expect([0, 0.2499, 0.25, 0.999, 1].map((u) => sampleIndex(p, u))).toEqual([1, 1, 3, 3, 3]);
    expect(sampleIndex(Float64Array.of(9, 0.5, 0.5), 0.6, 1, 2)).toBe(1);
    expect(sampleIndex(new Float64Array(3), 0.5)).toBe(-1);
  });
});
