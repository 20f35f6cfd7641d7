import { describe, expect, it } from 'vitest';
import { imported, read, series } from '../../../test/support/logs.ts';

describe('logs of JSON objects', () => {
  it('progress.json of Stable-Baselines3, with bare NaN and a line that was cut off', async () => {
    const log = await imported(
      'progress.json',
      '{"train/approx_kl": 0.5, "time/total_timesteps": 10}\n{"train/approx_kl": NaN, "time/total_timesteps": 20}\n{"train/appr',
    );
    expect(series(log)).toEqual({ 'train/approx_kl': [0.5, Number.NaN] });
    expect([...log.log.step]).toEqual([10, 20]);
    expect(log.notices).toEqual([
      'progress.json: the last line is cut off and left out; the 2 lines before it are kept',
    ]);
  });

  it('log_history of trainer_state.json, pretty or in one line', async () => {
    const state = {
      epoch: 1,
      log_history: [
        { loss: 1.5, kl: 0.001, 'completions/mean_length': 9, step: 5 },
        { loss: 1, kl: 0.002, step: 10 },
      ],
    };
    for (const text of [JSON.stringify(state, null, 2), JSON.stringify(state)]) {
      const log = await imported('trainer_state.json', text);
      expect(series(log)).toMatchObject({ loss: [1.5, 1], kl: [0.001, 0.002] });
      expect(read(log)).toEqual({ loss: 'loss', kl: 'reference_kl' });
      expect([...log.log.step]).toEqual([5, 5, 5, 10, 10]);
    }
  });

  it('dictionaries as Python prints them, and lines of verl', async () => {
    const python = await imported(
      'train.log',
      "{'loss': 0.25, 'grad_norm': nan, 'policy/approxkl_avg': 0.5, 'done': None, 'epoch': 0.1}\nsome words\n{'loss': 1e-3, 'epoch': 0.2}\n",
    );
    expect(series(python)).toEqual({ loss: [0.25, 0.001], grad_norm: [Number.NaN], 'policy/approxkl_avg': [0.5] });
    expect(python.notices).toEqual(['train.log: 1 lines are no objects and are left out; 2 were read']);
    const logged = await imported(
      'train.out',
      '2026-01-01 10:00:00 INFO [ppo] {\'update\': 1, \'value_loss\': nan, \'entropy\': 1.5}\nINFO {"update": 2, "value_loss": 3, "entropy": 1}\n',
    );
    expect(series(logged)).toEqual({ value_loss: [Number.NaN, 3], entropy: [1.5, 1] });
    const verl = await imported(
      'verl.log',
      '(Task pid=1) step:3 - actor/ppo_kl:0.001 - actor/pg_clipfrac:0.02 - actor/entropy_loss:0.7\n',
    );
    expect(read(verl)).toEqual({
      'actor/ppo_kl': 'kl_k1',
      'actor/pg_clipfrac': 'clip_fraction',
      'actor/entropy_loss': 'entropy',
    });
    expect([...verl.log.step]).toEqual([3, 3, 3]);
    const file = await imported('verl.jsonl', '{"step": 4, "data": {"actor/ppo_kl": 0.5}}\n');
    expect([file.log.names, [...file.log.step]]).toEqual([['actor/ppo_kl'], [4]]);
  });

  it("RLlib's nested result.json: policies become agents, the configuration becomes settings", async () => {
    const row = {
      timesteps_total: 4000,
      config: { num_sgd_iter: 1, sgd_minibatch_size: 128, train_batch_size: 128, clip_param: 0.3, env: 'x' },
      info: {
        learner: {
          fox: { learner_stats: { kl: 0.01, entropy: 1.2, vf_explained_var: 0.5 } },
          hen: { learner_stats: { kl: 0.02 } },
        },
      },
      policy_reward_mean: { fox: 3, hen: 4 },
    };
    const log = await imported('result.json', `${JSON.stringify(row)}\n`);
    expect(log.columns.filter(({ used }) => used).map(({ metric, agent }) => [metric, agent])).toEqual([
      ['kl', 'fox'],
      ['entropy', 'fox'],
      ['explained_variance', 'fox'],
      ['kl', 'hen'],
      ['return', 'fox'],
      ['return', 'hen'],
    ]);
    expect(log.manifest).toMatchObject({
      agents: [{ name: 'fox' }, { name: 'hen' }],
      settings: { epochs: 1, minibatches: 1, clip: 0.3 },
    });
  });

  it.each([
    ['words', 'x.jsonl', 'hello\nworld\n', 'holds no line that is a JSON object'],
    ['an object without a history', 'x.json', '{\n "a": 1\n}\n', 'holds no logged numbers'],
    ['not JSON', 'x.json', '{\n "a": \n', 'is not JSON, nor one object per line'],
    ['no numbers', 'x.jsonl', '{"a": "b"}\n', 'holds no logged numbers'],
  ])('that cannot be read get a sentence: %s', async (_, name, text, sentence) => {
    await expect(imported(name, text)).rejects.toThrow(sentence);
  });
});

describe('JSON of any nesting', () => {
  it('lists of numbers by name, with or without their steps', async () => {
    const log = await imported(
      'x.json',
      '{\n"config": {"gamma": 0.9},\n"update": [10, 20],\n"losses": {"kl": [1, 2]},\n"entropy": [3, 4]}',
    );
    expect(series(log)).toEqual({ entropy: [3, 4], 'losses/kl': [1, 2] });
    expect(log.manifest.settings).toEqual({ gamma: 0.9 });
  });

  it('lists of lists are a figure of several agents, whichever counts them', async () => {
    const byUpdate = await imported(
      'run.json',
      JSON.stringify({
        kl: [1, 2, 3],
        returns: [
          [1, 4],
          [2, 5],
          [3, 6],
        ],
      }),
    );
    const byAgent = await imported(
      'run.json',
      JSON.stringify({
        kl: [1, 2, 3],
        returns: [
          [1, 2, 3],
          [4, 5, 6],
        ],
      }),
    );
    for (const log of [byUpdate, byAgent]) {
      expect(series(log)).toEqual({ kl: [1, 2, 3], returns_agent_0: [1, 2, 3], returns_agent_1: [4, 5, 6] });
      expect(read(log)).toMatchObject({ returns_agent_0: 'return', returns_agent_1: 'return' });
    }
  });

  it('epochs within updates are so many numbers of that update', async () => {
    const text =
      '[{"update": 5, "epochs": [{"epoch": 0, "kl": 1}, {"epoch": 1, "kl": 2}], "agents": {"IND": {"entropy": [7, 8]}}},\n{"update": 6, "epochs": [{"epoch": 0, "kl": 3}]}]';
    const log = await imported('x.json', text);
    expect(series(log)).toEqual({ 'epochs/epoch': [0, 1, 0], 'epochs/kl': [1, 2, 3], 'agents/IND/entropy': [7, 8] });
    expect([...log.log.step]).toEqual([5, 5, 5, 5, 5, 5, 6, 6]);
    expect(log.columns.map(({ metric, agent }) => [metric, agent])).toEqual([
      [null, null],
      ['kl', null],
      ['entropy', 'IND'],
    ]);
  });

  it('records by number, and runs of records', async () => {
    const numbered = await imported('x.json', '{\n"1": {"kl": 1}, "2": {"kl": 2}}');
    expect([series(numbered), [...numbered.log.step]]).toEqual([{ kl: [1, 2] }, [1, 2]]);
    const nested = await imported(
      'x.json',
      '{\n"training": {"updates": [{"iteration": 3, "kl": 1}, {"iteration": 4, "kl": 2}]}}',
    );
    expect([series(nested), [...nested.log.step]]).toEqual([{ 'training/kl': [1, 2] }, [3, 4]]);
  });
});

describe('what programs print', () => {
  it("Stable-Baselines3's tables", async () => {
    const table = (reward: number, kl: number, steps: number) =>
      `Using cpu device\n---------------------------------\n| rollout/           |          |\n|    ep_rew_mean     | ${reward}       |\n| time/              |          |\n|    total_timesteps | ${steps}     |\n| train/             |          |\n|    approx_kl       | ${kl} |\n|    entropy_loss    | -0.69    |\n---------------------------------\n`;
    const log = await imported('run.log', table(21, 0.01, 2048) + table(22, 0.02, 4096));
    expect(read(log)).toEqual({
      'rollout/ep_rew_mean': 'return',
      'train/approx_kl': 'kl',
      'train/entropy_loss': '-entropy',
    });
    expect([...log.log.step]).toEqual([2048, 2048, 2048, 4096, 4096, 4096]);
  });

  it("rsl_rl's blocks", async () => {
    const block = (i: number) =>
      `################\n            Learning iteration ${i}/1500\n\n   Computation: 9000 steps/s (collection: 1.2s, learning 0.1s)\n   Value function loss: 0.5\n   Surrogate loss: -0.25\n   Mean reward: 3.5\n--------\n   Total timesteps: ${98304 * (i + 1)}\n   Iteration time: 1.2s\n`;
    const log = await imported('train.log', block(0) + block(1));
    expect(read(log)).toMatchObject({
      'Value function loss': 'value_loss',
      'Surrogate loss': 'policy_loss',
      'Mean reward': 'return',
    });
    expect(log.log.valuesOf('Mean reward')).toEqual([3.5, 3.5]);
  });

  it('lists behind a name, and bare pairs between bars', async () => {
    const log = await imported(
      'run.log',
      [1, 2, 3].map((i) => `12:00:0${i} Ep ${i}0 | R=[1.5, -${i}e-1] | KL 0.0${i} | ent ${i} nats`).join('\n'),
    );
    expect(series(log)).toEqual({ R_agent_0: [1.5, 1.5, 1.5], R_agent_1: [-0.1, -0.2, -0.3], KL: [0.01, 0.02, 0.03] });
  });

  it('names and numbers in prose, with times, colours and words between them', async () => {
    const line = (i: number) =>
      `\u001b[32m2024-05-01 12:00:0${i},123 INFO trainer: update ${i}: approx_kl=0.0${i}, entropy = 1.5 | lr: 3e-4 (12.5s)\u001b[0m\n`;
    const log = await imported('out.log', line(1) + line(2));
    expect(series(log)).toEqual({ approx_kl: [0.01, 0.02], entropy: [1.5, 1.5], lr: [3e-4, 3e-4] });
    expect([...log.log.step]).toEqual([1, 1, 1, 2, 2, 2]);
  });

  it('that hold no numbers get a sentence', async () => {
    await expect(imported('out.log', 'hello\nworld\n')).rejects.toThrow('holds no line with a name and a number');
  });
});

describe('printed tables without rules', () => {
  it("two columns, as garage's logger prints them", async () => {
    const block = (step: number, kl: string) =>
      `-----------------  ---------\nTotalEnvSteps      ${step}\nGaussianMLPPolicy/KL    ${kl}\nVFunction/LossAfter   1.5\n-----------------  ---------\n`;
    const log = await imported('debug_run.log', block(512, '3.1e-05') + block(1024, '0.02'));
    expect(log.log.valuesOf('GaussianMLPPolicy/KL')).toEqual([3.1e-5, 0.02]);
    expect([...log.log.step]).toEqual([512, 512, 1024, 1024]);
  });

  it('a line that begins with a word in brackets is no JSON', async () => {
    const log = await imported(
      'out.txt',
      '[update 1] approx_kl: 0.1, entropy: 0.5\n[update 2] approx_kl: 0.2, entropy: 0.4\n',
    );
    expect(log.log.valuesOf('approx_kl')).toEqual([0.1, 0.2]);
  });
});
