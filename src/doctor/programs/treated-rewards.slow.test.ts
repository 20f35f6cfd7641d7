/** Rewards that programs scale, fold or take for credit: what is a custom, and what is told of the rest. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made, placesOf, status, unheard } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

/** What is paid differs from row to row; what is stored is divided by a figure that runs on: one for all, or each environment's and agent's own. */
function scaled(made: Made, own: boolean): void {
  const { samples } = made.tables;
  const [env, agent] = ['env', 'agent'].map((name) => numbers(samples, name) ?? numbers(samples, 't').map(() => 0));
  const seen = new Map<number, number>();
  samples.env_reward = env.map((_, row) => 1.5 + Math.sin(5 * row * row + 1));
  samples.reward = numbers(samples, 'env_reward').map((paid, row) => {
    const stream = 10 * env[row] + agent[row];
    const moment = (seen.get(stream) ?? 0) + 1;
    seen.set(stream, moment);
    return paid / (own ? (1 + 0.1 * stream) * (1 + Math.log(100 + moment)) : 1 + Math.log(100 + row));
  });
  credited(made);
}

describe('rewards that are divided by a running figure', () => {
  it('may be so in each environment by its own', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => scaled(made, true));
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
    expect(ids(found.remarks)).toContain('rewards-treated');
  });

  it('are not excused where they belong to another row', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      scaled(made, true);
      const { samples } = made.tables;
      samples.env_reward = numbers(samples, 'env_reward').map((_, row, all) => all[(row + 16) % all.length]);
    });
    expect(found.verdict).not.toBe('healthy');
    expect(ids(found.remarks)).not.toContain('rewards-treated');
  });

  it.each(['next_value', 'value'])('may hold %s on top of it where a time limit cut off', async (added) => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      scaled(made, false);
      const { samples } = made.tables;
      const { gamma } = made.manifest.settings as unknown as { gamma: number };
      const [held, truncated] = [added, 'truncated'].map((name) => numbers(samples, name));
      const noted = samples.next_value;
      samples.next_value = numbers(samples, 'next_value').map((own, row) => (truncated[row] === 1 ? held[row] : own));
      credited(made);
      samples.next_value = noted;
      samples.reward = numbers(samples, 'reward').map((r, row) => r + (truncated[row] === 1 ? gamma * held[row] : 0));
    });
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
    expect(ids(found.remarks)).toContain('bootstrap-in-reward');
  });
});

describe('rewards that are divided by a figure that has only begun to run', () => {
  /** Small costs and now and then a gain; the figure falls fast at first, as a deviation that starts from nothing does, and moves on with every row. */
  function beginning(made: Made, late: boolean): void {
    const { samples } = made.tables;
    const [iteration, env, agent] = ['iteration', 'env', 'agent'].map((name) => numbers(samples, name));
    const seen = new Map<number, number>();
    const payments = iteration.map((_, row) => (row % 9 === 4 ? 0.6 + 0.3 * Math.sin(row) : -0.02));
    samples.env_reward = payments;
    samples.reward = payments.map((paid, row) => {
      const stream = 10 * (env?.[row] ?? 0) + agent[row];
      const moment = seen.get(stream) ?? 0;
      seen.set(stream, moment + 1);
      const figure = 4 + 1000 * 3 ** -moment * (1 + Math.sin(row) / 2);
      return figure * (late ? payments[Math.max(0, row - 1)] : paid);
    });
    credited(made);
  }

  it('are a custom, however it jumps in the first iteration', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => beginning(made, false));
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
    expect(ids(found.remarks)).toContain('rewards-treated');
  });

  it('are not excused where they belong to another row', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => beginning(made, true));
    expect(found.verdict).not.toBe('healthy');
  });
});

describe('what stands in the place of the advantage', () => {
  it('is told where it is the reward, though a few numbers are always some rows’ own', async () => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const { samples, replays } = made.tables;
      samples.reward = numbers(samples, 'reward').map((_, row) =>
        row % 7 === 0 ? 0.95 : row % 3 === 0 ? -0.15 : -0.05,
      );
      delete samples.env_reward;
      credited(made);
      replays.advantage = placesOf(made.tables).map((row) => 2 * numbers(samples, 'reward')[row] + 0.1);
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', 'credit-formula-differs']);
    expect(found.causes[0].transform).toMatchObject({ id: 'in-place-of', column: 'reward', expected: 'advantage' });
  });

  it('is told where it is nothing in all passes but the first', async () => {
    const found = await changed('healthy/echo-1', (made) => {
      const { replays } = made.tables;
      const epoch = numbers(replays, 'epoch');
      replays.advantage = numbers(replays, 'advantage').map((value, row) => (epoch[row] === 0 ? value : 0));
      unheard(made);
    });
    expect(first(found)).toEqual(['faulty', 'advantage-degenerate']);
    expect(found.causes[0].summary).toContain('only the first pass teaches anything');
  });
});

describe('a whole loss of a policy whose value has a loop of its own', () => {
  const alone = (coefficient: number) =>
    changed('healthy/echo-1', ({ tables: { steps } }) => {
      const [policy, entropy] = ['policy_loss', 'entropy'].map((name) => numbers(steps, name));
      steps.loss = policy.map((own, row) => own - coefficient * entropy[row]);
      delete steps.value_loss;
    });

  it('is the policy loss less the bonus', async () => {
    expect(status(await alone(0.01), 'whole-loss')).toBe('pass');
  });

  it('shows a bonus with the wrong sign', async () => {
    expect(ids((await alone(-0.01)).causes)).toContain('entropy-sign-flipped');
  });
});
