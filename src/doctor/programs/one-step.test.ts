/** Programs that pass over every batch once, and those that draw from a buffer of several environments. */
import { describe, expect, it } from 'vitest';
import { numbers, record, stored, type TestTables } from '../../../test/support/tables.ts';
import { mean } from '../../math/statistics.ts';
import { diagnose } from '../diagnose.ts';
import type { Diagnosis } from '../diagnosis.ts';

/** A2C made of a healthy run: one step per batch, no ratio; `loss` makes the losses of a step of its rows. */
async function onePass(
  loss: (parts: { policy: number; value: number; entropy: number; rows: number }) => Record<string, number>,
): Promise<Diagnosis> {
  const { tables, manifest } = await stored('healthy/stag-hunt-4');
  const { replays } = tables;
  const once = numbers(replays, 'epoch').flatMap((epoch, row) => (epoch === 0 ? [row] : []));
  for (const name of Object.keys(replays)) replays[name] = once.map((row) => replays[name][row]) as number[];
  delete replays.after_logp;
  const sample = numbers(replays, 'sample');
  const sampled = numbers(tables.samples, 'iteration');
  const first = new Map<number, number>();
  for (const [row, iteration] of sampled.entries()) if (!first.has(iteration)) first.set(iteration, row);
  const iteration = numbers(replays, 'iteration');
  // Before the one step the networks say what they said when they acted.
  const kept = (name: string) => sample.map((row, i) => numbers(tables.samples, name)[first.get(iteration[i])! + row]);
  [replays.new_logp, replays.value] = [kept('old_logp'), kept('value')];
  if (replays.old_logp) replays.old_logp = replays.new_logp;
  replays.minibatch = sample.map(() => 0);
  const [logp, advantage, value, target, entropy] = ['new_logp', 'advantage', 'value', 'return', 'entropy'].map(
    (name) => numbers(replays, name),
  );
  const policies = replays.policy ? numbers(replays, 'policy') : sample.map(() => 0);
  const steps: Record<string, number[]> = { iteration: [], epoch: [], minibatch: [], policy: [] };
  for (const at of new Set(iteration))
    for (const policy of new Set(policies)) {
      const rows = sample.flatMap((_, i) => (iteration[i] === at && policies[i] === policy ? [i] : []));
      const of = (figure: (row: number) => number) => mean(rows.map(figure));
      const told = loss({
        policy: -of((row) => logp[row] * advantage[row]),
        value: of((row) => (value[row] - target[row]) ** 2),
        entropy: of((row) => entropy[row]),
        rows: rows.length,
      });
      for (const [name, figure] of Object.entries({ iteration: at, epoch: 0, minibatch: 0, policy, ...told })) {
        steps[name] ??= [];
        steps[name].push(figure);
      }
    }
  tables.steps = steps;
  Reflect.deleteProperty(tables, 'tensors');
  manifest.algorithm = 'a2c';
  manifest.settings = { gamma: manifest.settings?.gamma, lambda: manifest.settings?.lambda };
  return diagnose(await record({ tables, manifest }));
}

const status = ({ checks }: Diagnosis, id: string) => checks.find((check) => check.id === id)?.status;

describe('a program with one step per batch', () => {
  const whole = (policy: number, value: number, bonus: number) => ({ loss: policy + value + bonus });

  it('has its loss and its parts read off a few steps together', async () => {
    const found = await onePass(({ policy, value, entropy }) => ({
      policy_loss: policy,
      value_loss: value,
      entropy,
      ...whole(policy, 0.5 * value, -0.02 * entropy),
    }));
    expect(found.causes).toEqual([]);
    expect([status(found, 'loss'), status(found, 'whole-loss')]).toEqual(['pass', 'pass']);
  });

  it.each([
    ['entropy-sign-flipped', 1, 0.5, 0.02],
    ['loss-formula-differs', 1, -0.5, -0.02],
    ['advantage-sign-flipped', -1, 0.5, -0.02],
  ])('%s', async (cause, sign, weight, bonus) => {
    const found = await onePass(({ policy, value, entropy }) => ({
      policy_loss: sign * policy,
      value_loss: value,
      entropy,
      ...whole(sign * policy, weight * value, bonus * entropy),
    }));
    expect(found.causes[0]?.id).toBe(cause);
  });

  it('loss-summed', async () => {
    const found = await onePass(({ policy, value, entropy, rows }) => ({
      policy_loss: rows * policy,
      value_loss: rows * value,
      entropy,
      ...whole(rows * policy, 0.5 * rows * value, -0.02 * entropy),
    }));
    expect(found.causes[0]?.id).toBe('loss-summed');
  });

  it('whose loss no formula gives is not said to have the right one', async () => {
    const found = await onePass(({ policy, entropy }) => ({ policy_loss: policy ** 2 + 3, entropy }));
    expect(status(found, 'loss')).toBe('not-checked');
  });
});

/** Steps of two environments in a buffer, each drawn once. */
async function buffer(
  change: (targets: Record<string, number[] | number[][]>, at: (column: string, row: number) => number) => void,
): Promise<Diagnosis> {
  const [environments, length] = [2, 120];
  const rows = Array.from({ length: environments * length }, (_, i) => i);
  const seen = (row: number) => 1000 + 7 * row;
  const cut = (row: number) => Math.floor(row / environments) % 10 === 9;
  const reward = rows.map((row) => Math.sin(row * row));
  const values = rows.map((row) => [0, 1, 2].map((choice) => Math.cos(row + choice)));
  const targets: Record<string, number[] | number[][]> = {
    iteration: rows.map(() => 0),
    minibatch: rows.map(() => 0),
    epoch: rows.map(() => 0),
    sample: rows,
    rewards: reward.map((value) => [value]),
    terminated: rows.map(() => [0]),
    truncated: rows.map((row) => [cut(row) ? 1 : 0]),
    n: rows.map(() => 1),
    env_reward: [...reward],
    obs_hash: rows.map(seen),
    // At a time limit the last observation is another than the first of the next episode.
    next_hash: rows.map((row) => seen(row + environments) + (cut(row) ? 3 : 0)),
    next_values: values,
    target: reward.map((value, row) => value + 0.9 * Math.max(...values[row])),
  };
  change(targets, (column, row) => Number(targets[column][row]));
  const tables = { targets } as unknown as TestTables;
  return diagnose(
    await record({ tables, manifest: { format: 'trueline/1', algorithm: 'dqn', settings: { gamma: 0.9 } } }),
  );
}

describe('a buffer of several environments', () => {
  it('is read by the observations that follow one another', async () => {
    const found = await buffer(() => {});
    expect(found.causes).toEqual([]);
    expect([status(found, 'storage'), status(found, 'targets')]).toEqual(['pass', 'pass']);
  });

  it('with the reward of the step before', async () => {
    const found = await buffer((targets, at) => {
      const stored = (row: number) => (row < 2 ? 0 : at('env_reward', row - 2));
      targets.target = (targets.target as number[]).map((value, row) => value - at('env_reward', row) + stored(row));
      targets.rewards = (targets.sample as number[]).map((row) => [stored(row)]);
    });
    expect(found.causes[0]?.id).toBe('reward-time-shifted');
  });

  it('with rewards that follow nothing that was paid', async () => {
    const found = await buffer((targets) => {
      targets.env_reward = (targets.env_reward as number[]).map((_, row) => Math.sin(5 * row * row + 1));
    });
    expect([found.verdict, status(found, 'storage')]).toEqual(['unexplained', 'fail']);
  });

  it('with the first observation of the next episode at time limits', async () => {
    const found = await buffer((targets, at) => {
      targets.next_hash = (targets.sample as number[]).map((row) => (row + 2 < 240 ? at('obs_hash', row + 2) : 1));
    });
    expect(found.causes[0]?.id).toBe('final-observation-lost');
  });

  it.each(['min', 'mean'])('with the %s of the choices as the bootstrap', async (kind) => {
    const found = await buffer((targets, at) => {
      targets.target = (targets.next_values as number[][]).map(
        (values, row) => at('env_reward', row) + 0.9 * (kind === 'min' ? Math.min(...values) : mean(values)),
      );
    });
    expect(found.causes[0]?.id).toBe('credit-formula-differs');
  });

  it.each([
    ['of the stored next observation', 0, undefined],
    ['of another observation', 1, 'critic-context-misaligned'],
  ] as const)('whose next actions are drawn for the mean %s', async (_, shift, cause) => {
    const found = await buffer((targets) => {
      const rows = targets.sample as number[];
      const means = rows.map((row) => [Math.sin(row), Math.cos(3 * row)]);
      targets.next_mean = rows.map((row) => means[(row + shift) % rows.length]);
      targets.next_mean_again = means;
      targets.next_log_std = rows.map(() => [0, 0]);
      targets.next_action = (targets.next_mean as number[][]).map((mean) => mean.map(Math.tanh));
      targets.next_logp = (targets.next_action as number[][]).map(
        (action) => -Math.log(2 * Math.PI) - action.reduce((sum, y) => sum + Math.log1p(-y * y), 0),
      );
    });
    expect([status(found, 'soft-density'), found.causes[0]?.id]).toEqual([cause ? 'fail' : 'pass', cause]);
  });
});
