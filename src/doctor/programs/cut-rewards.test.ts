/** Rewards that are cut to bounds or to their sign, beside a bootstrap of time limits or a move: what is a custom, and what is told of the rest. */
import { describe, expect, it } from 'vitest';
import { changed, credited, first, type Made } from '../../../test/support/programs.ts';
import { numbers } from '../../../test/support/tables.ts';
import { buildChains } from '../../math/chains.ts';

const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);

/** Pays -5, 0, 2 or 0.5. */
function pay({ tables: { samples } }: Made): number[] {
  samples.env_reward = numbers(samples, 't').map((_, row) => [0, 2, 0, -5, 0, 0, 0.5][(row * row + 3 * row) % 7]);
  return numbers(samples, 'env_reward');
}

/** The rows of every environment and agent in time, over all iterations. */
const chainsOf = ({ tables: { samples } }: Made) => {
  const [episode, t, agent, env] = ['episode', 't', 'agent', 'env'].map((name) => numbers(samples, name));
  return buildChains(episode, t, agent, env);
};

describe('rewards that are cut', () => {
  it.each([
    ['bounds', (paid: number) => Math.min(1, Math.max(-1, paid))],
    ['the sign', Math.sign],
  ])('to %s may hold what follows a time limit', async (_, cut) => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const paid = pay(made);
      const { samples } = made.tables;
      samples.reward = paid.map(cut);
      credited(made);
      const { gamma } = made.manifest.settings as unknown as { gamma: number };
      const [next, truncated] = ['next_value', 'truncated'].map((name) => numbers(samples, name));
      samples.reward = numbers(samples, 'reward').map((own, row) =>
        Math.fround(own + (truncated[row] === 1 ? gamma * next[row] : 0)),
      );
    });
    expect(found.causes).toEqual([]);
    expect(found.unexplained).toEqual([]);
    expect(ids(found.remarks)).toEqual(expect.arrayContaining(['rewards-treated', 'bootstrap-in-reward']));
  });

  it.each([
    ['cut', Math.sign],
    ['scaled', (paid: number) => paid / 4],
  ])('or %s are named where they stand a step late', async (_, form) => {
    const found = await changed('healthy/stag-hunt-4', (made) => {
      const paid = pay(made);
      const { streamPrevious } = chainsOf(made);
      made.tables.samples.reward = paid.map((_, row) =>
        streamPrevious[row] < 0 ? 0 : form(paid[streamPrevious[row]]),
      );
      credited(made);
    });
    expect(first(found)).toEqual(['faulty', 'reward-time-shifted']);
    expect(found.causes[0].transform).toMatchObject({ id: 'lag', steps: -1 });
  });

  it('are named where each environment has those of another', async () => {
    const found = await changed('healthy/echo-2', (made) => {
      const { samples } = made.tables;
      const [iteration, agent, env] = ['iteration', 'agent', 'env'].map((name) => numbers(samples, name));
      samples.env_reward = env.map((_, row) => Math.sin(5 * row * row + 1));
      const paid = numbers(samples, 'env_reward');
      const streams = new Map<string, number[]>();
      env.forEach((at, row) => {
        const key = `${iteration[row]} ${agent[row]} ${at}`;
        streams.set(key, [...(streams.get(key) ?? []), row]);
      });
      const many = Math.max(...env) + 1;
      samples.reward = env.map((at, row) => {
        const [own, other] = [at, (at + 1) % many].map((one) => streams.get(`${iteration[row]} ${agent[row]} ${one}`)!);
        return paid[other[own.indexOf(row)]];
      });
      credited(made);
    });
    expect(first(found)).toEqual(['faulty', 'reward-bookkeeping']);
    expect(found.causes[0].summary).toContain('another environment');
  });
});
