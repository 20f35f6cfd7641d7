import { describe, expect, it } from 'vitest';
import { numbers, record, stored } from '../../../test/support/tables.ts';
import { buildChains } from '../../math/chains.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';
import { listOf } from '../evidence/keys.ts';

type Made = Awaited<ReturnType<typeof stored>>;
const healthy = 'healthy/echo-2';

async function changed(change: (made: Made) => void, name = healthy): Promise<Diagnosis> {
  const made = await stored(name);
  change(made);
  return diagnose(await record(made));
}

describe('what a program stores beside the usual', () => {
  const ended = ({ samples }: Made['tables'], row: number) =>
    numbers(samples, 'terminated')[row] === 1 || numbers(samples, 'truncated')?.[row] === 1;

  it('ends that are ignored are named without the environments, by the numbers of the episode that follows', async () => {
    const name = 'return-crosses-episodes/return-crosses-episodes';
    const found = await changed(({ tables }) => {
      delete tables.samples.env;
    }, name);
    expect(found.causes[0]?.id).toBe('return-crosses-episodes');
    expect(found.causes[0].transform?.id).toBe('ends-found');
  });

  it('advantages that are normalised for each environment by itself are named so', async () => {
    const found = await changed(({ tables: { samples, replays, steps }, manifest }) => {
      const [iteration, env] = ['iteration', 'env'].map((name) => numbers(samples, name));
      const groups = new Map<string, number[]>();
      for (const [row, number] of iteration.entries()) listOf(groups, `${number} ${env[row]}`).push(row);
      const advantage = numbers(samples, 'advantage');
      const used = [...advantage];
      for (const rows of groups.values()) {
        const mean = rows.reduce((sum, row) => sum + advantage[row], 0) / rows.length;
        const square = rows.reduce((sum, row) => sum + (advantage[row] - mean) ** 2, 0) / rows.length;
        for (const row of rows) used[row] = (advantage[row] - mean) / (Math.sqrt(square) + 1e-8);
      }
      const start = new Map<number, number>();
      iteration.forEach((number, row) => void (start.has(number) || start.set(number, row)));
      const at = numbers(replays, 'iteration');
      replays.advantage = numbers(replays, 'sample').map((row, i) => used[start.get(at[i])! + row]);
      for (const name of ['policy_loss', 'loss', 'policy_grad_norm']) delete steps[name];
      manifest.settings = { ...manifest.settings, advantage_normalisation: 'batch' };
    });
    expect(found.causes[0]?.id).toBe('advantage-group-demeaned');
    expect(found.causes[0].transform).toMatchObject({ id: 'group-mean', by: 'env', scaled: true });
  });

  it('credit that runs on across ends, with the own last value at time limits alone, is no moved end', async () => {
    const found = await changed(({ tables, manifest }) => {
      const { samples } = tables;
      const column = (name: string) => numbers(samples, name);
      const { gamma, lambda } = manifest.settings as { gamma: number; lambda: number };
      const [reward, value, next, terminated] = ['reward', 'value', 'next_value', 'terminated'].map(column);
      samples.truncated = terminated.map((flag, row) => (flag === 1 && column('episode')[row] % 2 === 0 ? 1 : 0));
      const truncated = column('truncated');
      const advantage = new Array<number>(reward.length).fill(0);
      for (const number of new Set(column('iteration'))) {
        const rows = column('iteration').flatMap((at, row) => (at === number ? [row] : []));
        const of = (name: string) => rows.map((row) => column(name)[row]);
        const { order, streamNext } = buildChains(of('episode'), of('t'), of('agent'), of('env'));
        for (const at of [...order].reverse()) {
          const row = rows[at];
          const after = streamNext[at] < 0 ? -1 : rows[streamNext[at]];
          if (truncated[row] === 1) [terminated[row], next[row]] = [0, value[row] + 0.3];
          const boot = truncated[row] === 1 || after < 0 ? next[row] : value[after];
          advantage[row] = reward[row] - value[row] + gamma * boot;
          if (after >= 0) advantage[row] += gamma * lambda * advantage[after];
        }
      }
      samples.advantage = advantage;
      delete samples.return;
      for (const name of ['advantage', 'return']) delete tables.replays[name];
    });
    expect(found.causes[0]?.id).toBe('return-crosses-episodes');
    expect(found.causes[0].transform?.id).toBe('ends-by-kind');
  });

  it('rewards of all agents that stand with the first are named where the environment tells what it paid', async () => {
    const found = await changed(({ tables: { samples } }) => {
      const [episode, t, agent] = ['episode', 't', 'agent'].map((column) => numbers(samples, column));
      const paid = numbers(samples, 'reward').map((value, row) => value + 0.25 + 0.125 * (row % 3));
      const team = new Map<string, number>();
      paid.forEach((value, row) => {
        team.set(`${episode[row]} ${t[row]}`, (team.get(`${episode[row]} ${t[row]}`) ?? 0) + value);
      });
      samples.env_reward = paid;
      samples.reward = paid.map((_, row) => (agent[row] === 0 ? team.get(`${episode[row]} ${t[row]}`)! : 0));
    });
    expect(found.causes.map(({ id }) => id)).toContain('reward-bookkeeping');
  });

  it('a step that only resets its environment is a phantom, and no lost observation', async () => {
    const found = await changed(({ tables }) => {
      const { samples } = tables;
      const chains = buildChains(
        numbers(samples, 'episode'),
        numbers(samples, 't'),
        numbers(samples, 'agent'),
        samples.env ? numbers(samples, 'env') : null,
      );
      const [reward, value, next, terminated, truncated] = [
        'reward',
        'value',
        'next_value',
        'terminated',
        'truncated',
      ].map((column) => numbers(samples, column));
      reward.forEach((paid, row) => {
        reward[row] = paid + 0.5;
      });
      for (let row = 0; row < chains.rows; row++) {
        const before = chains.streamPrevious[row];
        if (before < 0 || !ended(tables, before)) continue;
        reward[row] = 0;
        [terminated[before], truncated[before]] = [0, 1];
        next[before] = value[row];
      }
      delete samples.env_reward;
    });
    expect(found.causes.map(({ id }) => id)).toContain('phantom-steps');
    expect(found.causes.map(({ id }) => id)).not.toContain('final-observation-lost');
  });

  it('lists that one pass does not follow are named without any logits, by the rows whose list makes no difference', async () => {
    const found = await changed(({ tables }) => {
      const { samples, replays } = tables;
      const kept = numbers(samples, 'num_actions');
      delete samples.logits;
      for (const column of ['logits', 'subset', 'legal', 'entropy', 'again_logp']) delete replays[column];
      // Every third list is that of the first ids; the others are the same, begun one place later.
      samples.subset = kept.map((count, row) => Array.from({ length: count }, (_, i) => i + (row % 3 === 0 ? 0 : 1)));
      const off = (row: number) => (row % 3 === 0 ? 0 : 0.3 + 0.01 * (row % 17));
      const sample = numbers(replays, 'sample');
      const all = numbers(samples, 'iteration');
      const first = new Map<number, number>();
      all.forEach((at, row) => {
        if (!first.has(at)) first.set(at, row);
      });
      const at = numbers(replays, 'iteration');
      replays.new_logp = numbers(replays, 'new_logp').map((value, i) => value - off(first.get(at[i])! + sample[i]));
    });
    expect(found.causes[0]?.id).toBe('subset-not-replayed');
  });

  it('rewards that came a step late are named where only the returns of episodes tell', async () => {
    const made = await stored(healthy);
    const { samples } = made.tables;
    const column = (name: string) => numbers(samples, name);
    const [episode, agent] = [column('episode'), column('agent')];
    const paid = column('reward').map((value, row) => value + ((row * 37) % 11) / 8);
    const returned = new Map<number, number>();
    paid.forEach((value, row) => {
      returned.set(episode[row] * 8 + agent[row], (returned.get(episode[row] * 8 + agent[row]) ?? 0) + value);
    });
    // Iterations follow one another in every environment.
    const previous = new Map<string, number>();
    samples.reward = paid.slice();
    for (const row of paid.map((_, i) => i)) {
      const stream = `${column('env')[row]} ${agent[row]}`;
      numbers(samples, 'reward')[row] = previous.has(stream) ? paid[previous.get(stream)!] : 0;
      previous.set(stream, row);
    }
    for (const name of ['env_reward', 'advantage', 'return']) delete samples[name];
    for (const name of ['advantage', 'return']) delete made.tables.replays[name];
    const keys = [...returned.keys()];
    const episodes = {
      iteration: keys.map(() => 0),
      episode: keys.map((key) => Math.floor(key / 8)),
      agent: keys.map((key) => key % 8),
      return: [...returned.values()],
    };
    const found = await diagnose(await record({ ...made, tables: { ...made.tables, episodes } as Made['tables'] }));
    expect(found.causes.map(({ id }) => id)).toContain('reward-time-shifted');
  });
});
