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
    batch.numActions[row] = 1 + (i % 2);
    const first = batch.extendLists(batch.numActions[row]);
    batch.first[row] = first;
    for (let at = first; at < first + batch.numActions[row]; at++) {
      batch.legal[at] = i % 251;
      batch.subset[at] = i;
      batch.candidateFeatures[at] = i;
    }
    const slot = batch.slot[row];
    batch.state[slot * 2 + 1] = i;
    batch.obs.fill(i, slot * 3, slot * 3 + 3);
    batch.extras[0][slot * 2] = i;
    batch.extraLengths[0][slot] = i;
  });
  return batch;
}

function expectWhole(batch: Batch): void {
  const wrong: string[] = [];
  for (let row = 0; row < batch.rows; row++) {
    const i = batch.sample[row];
    const slot = batch.slot[row];
    const first = batch.first[row];
    const is = (column: string, value: number, wanted = i) => {
      if (value !== wanted) wrong.push(`row ${row}, which was ${i}: ${column} is ${value}`);
    };
    is('oldLogp', Math.abs(batch.oldLogp[row]));
    is('advantage', batch.advantage[row]);
    is('numActions', batch.numActions[row], 1 + (i % 2));
    for (let at = first; at < first + batch.numActions[row]; at++) {
      is('legal', batch.legal[at], i % 251);
      is('subset', batch.subset[at]);
      is('candidateFeatures', batch.candidateFeatures[at]);
    }
    is('state', batch.state[slot * 2 + 1]);
    for (let k = 0; k < 3; k++) is('obs', batch.obs[slot * 3 + k]);
    is('extras', batch.extras[0][slot * 2]);
    is('extraLengths', batch.extraLengths[0][slot]);
  }
  expect(wrong).toEqual([]);
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

  it('takes whole rows of another batch, or of itself, as copies of their own', () => {
    const from = filled(Array.from({ length: 300 }, (_, i) => [i, 0, 0] as const));
    from.reorder(Int32Array.from({ length: 200 }, (_, i) => 299 - i));
    const batch = filled([[0, 0, 0]]);
    batch.append(from, [7, 8, 9, 3, 199]);
    batch.append(batch, [2, 2]);
    expect(Array.from(batch.sample.subarray(0, batch.rows))).toEqual([0, 292, 291, 290, 296, 100, 291, 291]);
    expectWhole(batch);
    batch.obs.fill(-1, batch.slot[6] * 3, batch.slot[6] * 3 + 3);
    batch.subset.fill(-1, batch.first[6], batch.first[6] + batch.numActions[6]);
    batch.reorder(Int32Array.of(0, 1, 2, 3, 4, 5, 7));
    expectWhole(batch);
    expectWhole(from);
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
