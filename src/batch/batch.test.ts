import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { choice } from '../distributions/categorical/categorical.ts';
import { RandomStream } from '../math/random.ts';
import { Batch } from './batch.ts';

const shape = {
  observation: 3,
  criticState: 2,
  candidates: 2,
  features: 1,
  action: choice,
  extras: [{ name: 'cost', width: 2 }],
};

/** A batch whose every column carries the row's own number, so that a slipped column shows. */
function filled(keys: readonly (readonly [number, number, number])[]): Batch {
  const batch = new Batch(shape);
  keys.forEach(([episode, t, agent], i) => {
    const row = batch.add();
    batch.episode[row] = episode;
    batch.t[row] = t;
    batch.agent[row] = agent;
    batch.sample[row] = i;
    batch.oldLogp[row] = -i;
    batch.advantage[row] = i;
    batch.legal[row * 2 + 1] = i % 251;
    batch.subset[row * 2] = i;
    batch.candidateFeatures[row * 2] = i;
    batch.state[row * 2 + 1] = i;
    batch.obs.fill(i, row * 3, row * 3 + 3);
    batch.extras[0][row * 2] = i;
  });
  return batch;
}

function expectWhole(batch: Batch): void {
  for (let row = 0; row < batch.rows; row++) {
    const i = batch.sample[row];
    expect(Math.abs(batch.oldLogp[row])).toBe(i);
    expect(batch.advantage[row]).toBe(i);
    expect(batch.legal[row * 2 + 1]).toBe(i % 251);
    expect(batch.subset[row * 2]).toBe(i);
    expect(batch.candidateFeatures[row * 2]).toBe(i);
    expect(batch.state[row * 2 + 1]).toBe(i);
    expect(Array.from(batch.obs.subarray(row * 3, row * 3 + 3))).toEqual([i, i, i]);
    expect(batch.extras[0][row * 2]).toBe(i);
  }
}

const key = fc.tuple(
  fc.integer({ min: 0, max: 200_000 }),
  fc.integer({ min: 0, max: 70_000 }),
  fc.integer({ min: 0, max: 5 }),
);

describe('a batch', () => {
  it('sorts whole rows by (episode, t, agent), whatever their order was', () => {
    fc.assert(
      fc.property(fc.uniqueArray(key, { maxLength: 60, selector: (k) => k.join() }), (keys) => {
        const batch = filled(keys);
        batch.sort();
        const sorted = keys.toSorted((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
        expect(Array.from({ length: batch.rows }, (_, i) => [batch.episode[i], batch.t[i], batch.agent[i]])).toEqual(
          sorted,
        );
        expect(batch.firstUnsorted()).toBe(-1);
        expectWhole(batch);
      }),
    );
  });

  it('keeps rows whole under any re-ordering', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (rows, seed) => {
        const batch = filled(Array.from({ length: rows }, (_, i) => [i, 0, 0] as const));
        const order = RandomStream.of(seed, 'order').shuffle(Int32Array.from({ length: rows }, (_, i) => i));
        batch.reorder(order);
        expect(Array.from(batch.sample.subarray(0, rows))).toEqual(Array.from(order));
        expectWhole(batch);
      }),
      { numRuns: 20 },
    );
  });

  it('names the first row that breaks the triple, and is content where t and agent alone fall', () => {
    expect(
      filled([
        [0, 0, 0],
        [0, 0, 1],
        [0, 1, 0],
        [1, 0, 0],
      ]).firstUnsorted(),
    ).toBe(-1);
    expect(
      filled([
        [0, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ]).firstUnsorted(),
    ).toBe(2);
    expect(
      filled([
        [0, 0, 1],
        [0, 0, 1],
      ]).firstUnsorted(),
    ).toBe(1);
    expect(
      filled([
        [1, 0, 0],
        [0, 5, 0],
      ]).firstUnsorted(),
    ).toBe(1);
  });

  it('keeps its room when it is emptied', () => {
    const batch = filled(Array.from({ length: 1000 }, (_, i) => [i, 0, 0] as const));
    const { capacity, obs: observation } = batch;
    batch.clear();
    for (let i = 0; i < 1000; i++) batch.add();
    expect(batch.capacity).toBe(capacity);
    expect(batch.obs).toBe(observation);
  });
});
