import { describe, expect, it } from 'vitest';
import { advantages, type CreditInputs, type EndRule, flow } from './advantages.ts';
import { buildChains, lagged } from './chains.ts';

/** Two episodes of one agent in one environment; the first terminates, the second is cut off with a bootstrap of 4. */
const chains = buildChains([0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0], null);
const inputs: CreditInputs = {
  chains,
  reward: [1, 2, 3, 4],
  value: [0.5, 1, 1.5, 2],
  terminated: [0, 1, 0, 0],
  truncated: [0, 0, 0, 1],
  nextValue: [Number.NaN, Number.NaN, Number.NaN, 4],
};
const gamma = 0.5;
const lambda = 0.5;
const credit = (rule: EndRule) => [...advantages(inputs, flow(inputs, rule), { gamma, lambda }, new Float64Array(4))];

describe('generalised advantage estimation over chains', () => {
  it('agrees with the sum written out by hand', () => {
    const last = 4 + 0.5 * 4 - 2;
    const end = 2 - 1;
    expect(credit('asRecorded')).toEqual([1 + 0.5 * 1 - 0.5 + 0.25 * end, end, 3 + 0.5 * 2 - 1.5 + 0.25 * last, last]);
  });

  it('looks so many steps ahead where steps are given, and stops at ends', () => {
    const ahead = (steps: number) => [
      ...advantages(inputs, flow(inputs, 'asRecorded'), { gamma, lambda, steps }, new Float64Array(4)),
    ];
    expect(ahead(1)).toEqual([1 + 0.5 * 1 - 0.5, 2 - 1, 3 + 0.5 * 2 - 1.5, 4 + 0.5 * 4 - 2]);
    expect(ahead(2)).toEqual([1 + 0.5 * 2 - 0.5, 2 - 1, 3 + 0.5 * 4 + 0.25 * 4 - 1.5, 4 + 0.5 * 4 - 2]);
  });

  it('lets credit flow across an end when ends are ignored', () => {
    const last = 4 + 0.5 * 4 - 2;
    const third = 3 + 0.5 * 2 - 1.5 + 0.25 * last;
    expect(credit('ignored')[1]).toBe(2 + 0.5 * 1.5 - 1 + 0.25 * third);
  });

  it('bootstraps nothing at a truncation that is read as a termination', () => {
    expect(credit('truncationTerminates')[3]).toBe(4 - 2);
    expect(credit('truncationTerminates')[1]).toBe(credit('asRecorded')[1]);
  });

  it('cuts the row after an end where ends are read one row late, and leaves what a time limit put into its own reward', () => {
    const last = 4 + 0.5 * (4 + 4) - 2;
    const third = 3 - 1.5;
    const second = 2 + 0.5 * 1.5 - 1 + 0.25 * third;
    expect(credit('lateBeside')).toEqual([1 + 0.5 * 1 - 0.5 + 0.25 * second, second, third, last]);
  });

  it('cuts the row before an end where ends are read one row early, and leaves what a time limit put into its own reward', () => {
    const last = 4 + 0.5 * (4 + 4) - 2;
    const third = 3 - 1.5;
    const second = 2 + 0.5 * 1.5 - 1 + 0.25 * third;
    expect(credit('earlyBeside')).toEqual([1 - 0.5, second, third, last]);
  });

  it('is what the program gave where a row enters no loss, also for the row that carries it', () => {
    const given = [Number.NaN, 0, Number.NaN, Number.NaN];
    const found = advantages({ ...inputs, given }, flow(inputs, 'asRecorded'), { gamma, lambda }, new Float64Array(4));
    expect([found[0], found[1]]).toEqual([1 + 0.5 * 1 - 0.5, 0]);
  });

  it('is unknown where a bootstrap is unknown, and before it in the same episode only', () => {
    const unknown = { ...inputs, nextValue: null };
    const found = advantages(unknown, flow(unknown, 'asRecorded'), { gamma, lambda }, new Float64Array(4));
    expect([...found].map(Number.isNaN)).toEqual([false, false, true, true]);
  });

  it('follows t and not the storage order within an episode', () => {
    const mixed = buildChains([7, 7, 7], [2, 0, 1], [0, 0, 0], null);
    expect([...mixed.next]).toEqual([-1, 2, 0]);
    expect([...lagged([30, 10, 20], mixed.next, mixed.previous, 1)]).toEqual([Number.NaN, 20, 30]);
  });

  it('keeps the streams of agents and environments apart', () => {
    const two = buildChains([0, 0, 1, 1, 2, 2], [0, 0, 0, 0, 0, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 0, 0]);
    expect([...two.streamNext]).toEqual([4, 5, -1, -1, -1, -1]);
  });
});
