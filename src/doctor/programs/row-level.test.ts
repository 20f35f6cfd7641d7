/** What single rows tell of programs that nobody here had seen: credit without its baseline, precision, draws, groups, delayed rewards. Beside each slip stands the custom that looks like it. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made, status } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

describe('values that credit leaves out', () => {
  /** Advantages of values that are scaled by a factor, beside the values as they are. */
  const valuesTimes = (made: Made, factor: number) => {
    const { samples } = made.tables;
    const kept = ['value', 'next_value'].map((name) => [name, numbers(samples, name)] as const);
    for (const [name, values] of kept) samples[name] = values.map((value) => factor * value);
    credited(made);
    for (const [name, values] of kept) samples[name] = values;
    samples.return = numbers(samples, 'advantage').map((credit, row) => credit + numbers(samples, 'value')[row]);
  };

  it('are a term that the formula lacks, and in no other units', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 0));
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].summary).toMatch(/advantage = r \+ [\d.]+ A\(next\), where/);
  });

  it('are in other units where they count for half', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 0.5));
    expect(first(found)).toEqual(['faulty', 'value-scale-mismatch']);
  });

  it('are no fault where they count as they are', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => valuesTimes(made, 1));
    expect(first(found)).toEqual(['healthy', undefined]);
  });
});

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

describe('what an episode was paid', () => {
  /** Dense pay, stored as a whole at each episode's last row, or with a share of it elsewhere. */
  const delayed = (made: Made, kept: number) => {
    const { samples } = made.tables;
    const [episode, agent, t] = ['episode', 'agent', 't'].map((name) => numbers(samples, name));
    const last = new Map<string, number>();
    const total = new Map<string, number>();
    const key = (row: number) => `${episode[row]} ${agent[row]}`;
    samples.env_reward = t.map((_, row) => 1 + Math.sin(5 * row * row + 1));
    t.forEach((_, row) => {
      const before = last.get(key(row));
      if (before === undefined || t[before] < t[row]) last.set(key(row), row);
      total.set(key(row), (total.get(key(row)) ?? 0) + numbers(samples, 'env_reward')[row]);
    });
    samples.reward = t.map((_, row) => (last.get(key(row)) === row ? kept * total.get(key(row))! : 0));
    credited(made);
  };

  it('may be stored at its last row', async () => {
    const found = await changed('healthy/echo-2', (made) => delayed(made, 1));
    expect(found.unexplained).toEqual([]);
    expect(ids(found.remarks)).toContain('rewards-delayed');
  });

  it('is missed where a part of it is lost', async () => {
    const found = await changed('healthy/echo-2', (made) => delayed(made, 0.7));
    expect(status(found, 'rewards')).not.toBe('pass');
    expect(ids(found.remarks)).not.toContain('rewards-delayed');
  });
});

describe('a stop', () => {
  it.each([0, 1])('is said to be no end where later passes follow it: %s', async (on) => {
    const found = await changed('healthy/echo-1', ({ tables: { steps } }) => {
      const epoch = numbers(steps, 'epoch');
      const end = Math.max(...epoch);
      steps.stopped = epoch.map((at) => (at === (on === 1 ? end - 1 : end) ? 1 : 0));
    });
    expect(ids(found.remarks).includes('training-after-stop')).toBe(on === 1);
  });
});
