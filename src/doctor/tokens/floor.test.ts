import { describe, expect, it } from 'vitest';
import { Floor, gaps } from './floor.ts';

/** Half precision of a model that is sure: nearly all gaps are 0, and one in fifty is large. */
const tail = (rows: number, large: number, size: number) =>
  Float64Array.from({ length: rows }, (_, i) => (i < large ? size : 0));
const floor = new Floor(gaps(tail(1000, 30, 0.01)), true);

describe('the floor of two clean passes', () => {
  it('is not broken by a few rows more than it has itself, where there are few rows', () => {
    const few = gaps(tail(120, 6, 0.05));
    expect([floor.holds(few), floor.broken(few)]).toEqual([false, false]);
  });

  it('is broken by the same share of many rows', () => {
    const many = gaps(tail(6000, 300, 0.05));
    expect([floor.holds(many), floor.broken(many)]).toEqual([false, true]);
  });

  it('is broken by few rows where most of them disagree', () => {
    const most = gaps(tail(8, 6, 0.5));
    expect([floor.holds(most), floor.broken(most)]).toEqual([false, true]);
  });

  it('holds for what is no larger, and says nothing of no rows', () => {
    expect(floor.holds(gaps(tail(100, 2, 0.01)))).toBe(true);
    expect([floor.holds(gaps([])), floor.broken(gaps([]))]).toEqual([false, false]);
  });

  it('of some tokens is their own: the uncertain ones have all of it, the certain ones none', () => {
    const pairs = tail(1000, 30, 0.01);
    const whole = new Floor(gaps(pairs), true, pairs);
    const [unsure, sure] = [[...Array(30).keys()], [...Array(30).keys()].map((row) => row + 500)];
    const apart = (rows: readonly number[]) => gaps(rows.map(() => 0.01));
    expect([whole.broken(apart(unsure)), whole.among(unsure).broken(apart(unsure))]).toEqual([true, false]);
    expect([whole.among(sure).broken(apart(sure)), whole.only(sure).holds(apart(sure))]).toEqual([true, false]);
  });
});
