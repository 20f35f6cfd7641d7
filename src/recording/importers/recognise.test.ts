import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { metrics } from './names.ts';
import { joinedName, recognise } from './recognise.ts';
import { knownSettings, parseMaps } from './said.ts';

const one = (name: string, values: number[] = [], beside: string[] = []) => {
  const [row] = recognise([name, ...beside], () => values);
  return `${row.sign < 0 ? '-' : ''}${row.metric}${row.agent === null ? '' : ` of ${row.agent}`}`;
};

describe('the table of names', () => {
  it('holds every name once, by its words', () => {
    const all = metrics.flatMap(({ sources }) => sources.map((source) => joinedName(source.replace(/^[-?]/, ''))));
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
  });
});

describe('names as programs write them', () => {
  it.each([
    // Stable-Baselines3
    ['train/approx_kl', 'kl'],
    ['train/clip_fraction', 'clip_fraction'],
    ['train/entropy_loss', '-entropy'],
    ['train/explained_variance', 'explained_variance'],
    ['train/policy_gradient_loss', 'policy_loss'],
    ['train/value_loss', 'value_loss'],
    ['train/learning_rate', 'learning_rate'],
    ['train/loss', 'loss'],
    ['train/n_updates', 'updates'],
    ['train/clip_range', 'clip_range'],
    ['rollout/ep_rew_mean', 'return'],
    ['eval/mean_reward', 'evaluation_return'],
    // CleanRL
    ['losses/approx_kl', 'kl'],
    ['losses/old_approx_kl', 'kl_k1'],
    ['losses/clipfrac', 'clip_fraction'],
    ['losses/entropy', 'entropy'],
    ['losses/explained_variance', 'explained_variance'],
    ['charts/learning_rate', 'learning_rate'],
    ['charts/episodic_return', 'return'],
    // RLlib, old and new
    ['info/learner/default_policy/learner_stats/kl', 'kl'],
    ['info/learner/default_policy/learner_stats/cur_lr', 'learning_rate'],
    ['info/learner/default_policy/learner_stats/vf_explained_var', 'explained_variance'],
    ['info/learner/fox/learner_stats/entropy', 'entropy of fox'],
    ['learners/default_policy/mean_kl_loss', 'kl'],
    ['learners/p0/vf_loss', 'value_loss of p0'],
    ['learners/p0/gradients_default_optimizer_global_norm', 'grad_norm of p0'],
    ['env_runners/episode_return_mean', 'return'],
    ['env_runners/agent_episode_returns_mean/agent_1', 'return of agent_1'],
    ['policy_reward_mean/fox', 'return of fox'],
    // TRL
    ['objective/kl', 'reference_kl'],
    ['policy/approxkl_avg', 'kl'],
    ['policy/clipfrac_avg', 'clip_fraction'],
    ['policy/entropy_avg', 'entropy'],
    ['loss/policy_avg', 'policy_loss'],
    ['loss/value_avg', 'value_loss'],
    ['val/clipfrac_avg', 'value_clip_fraction'],
    ['val/ratio', 'ratio'],
    ['ppo/policy/approxkl', 'kl'],
    ['ppo/policy/policykl', 'kl_k1'],
    ['ppo/val/var_explained', 'explained_variance'],
    ['frac_reward_zero_std', 'groups_without_signal'],
    ['clip_ratio/region_mean', 'clip_fraction'],
    // verl
    ['actor/ppo_kl', 'kl_k1'],
    ['actor/pg_clipfrac', 'clip_fraction'],
    ['actor/entropy', 'entropy'],
    ['actor/entropy_loss', 'entropy'],
    ['actor/grad_norm', 'policy_grad_norm'],
    ['actor/lr', 'learning_rate'],
    ['critic/vf_explained_var', 'explained_variance'],
    ['critic/advantages/mean', 'advantage_mean'],
    ['critic/vf_loss', 'value_loss'],
    ['critic/grad_norm', 'critic_grad_norm'],
    // Others
    ['Losses/Policy Loss', 'policy_loss'],
    ['Policy/Entropy', 'entropy'],
    ['Environment/Cumulative Reward', 'return'],
    ['Loss / Value loss', 'value_loss'],
    ['agent0/dist_entropy', 'entropy of agent0'],
    ['agent0/actor_grad_norm', 'policy_grad_norm of agent0'],
    ['return_agent_2', 'return of agent_2'],
    ['player_1_return', 'return of player_1'],
    ['KL', 'kl'],
    ['approx_kl', 'kl'],
    ['clipfrac', 'clip_fraction'],
    ['losses/a_loss', 'policy_loss'],
    ['losses/policy/mean', 'policy_loss'],
    ['losses/value', 'value_loss'],
    ['Losses/critic', 'value_loss'],
    ['it', 'null'],
    ['advantages_mean', 'advantage_mean'],
    ['train.approx_kl', 'kl'],
    ['time/fps', 'null'],
    ['weights/kl_head_bias', 'null'],
    ['losses/kl_coef', 'null'],
  ])('%s is %s', (name, expected) => {
    expect(one(name)).toBe(expected);
  });

  it('entropy_loss alone has the sign that its numbers have', () => {
    expect(one('entropy_loss', [-0.7, -0.6])).toBe('-entropy');
    expect(one('entropy_loss', [0.7, 0.6])).toBe('entropy');
  });

  it('a bare kl beside completions is the distance to the reference', () => {
    expect(one('kl')).toBe('kl');
    expect(one('train/kl', [], ['completions/mean_length'])).toBe('reference_kl');
  });

  it('the better of two names is read, and the other says so', () => {
    const rows = recognise(['kl', 'approx_kl'], () => []);
    expect(rows.map(({ used }) => used)).toEqual([false, true]);
    expect(rows[0].note).toBe('also kl; approx_kl is read');
  });

  it('levels that alone tell columns of one metric apart are agents', () => {
    const rows = recognise(['IND/return', 'EDU/return', 'train/loss', 'eval/loss'], () => []);
    expect(rows.map(({ agent }) => agent)).toEqual(['IND', 'EDU', null, null]);
  });
});

describe('the name of the only agent', () => {
  const read = (...names: string[]) => recognise(names, () => []).map(({ metric, agent }) => `${metric} of ${agent}`);

  it('stands in every figure, and nothing else tells that it is a name', () => {
    const names = ['avg_policy_loss_Red', 'valueLoss_Red', 'adv_mean_Red', 'entropyMean_Red', 'update_id'];
    expect(read(...names)).toEqual([
      'policy_loss of Red',
      'value_loss of Red',
      'advantage_mean of Red',
      'entropy of Red',
      'null of null',
    ]);
  });

  it('is not guessed from two figures, nor where one figure lacks it', () => {
    expect(read('kl_teacher', 'entropy_teacher')).toEqual(['null of null', 'null of null']);
    expect(read('kl_teacher', 'entropy_teacher', 'loss_teacher', 'kl')[0]).toBe('null of null');
  });
});

describe('words, whatever surrounds them', () => {
  const figures = [
    ['approx_kl', 'kl'],
    ['clip_fraction', 'clip_fraction'],
    ['entropy', 'entropy'],
    ['policy_loss', 'policy_loss'],
    ['value_loss', 'value_loss'],
    ['explained_variance', 'explained_variance'],
    ['learning_rate', 'learning_rate'],
    ['grad_norm', 'grad_norm'],
    ['advantage_mean', 'advantage_mean'],
    ['episode_return', 'return'],
  ] as const;
  const camel = (name: string) => name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  const cases = [
    (name: string) => name,
    (name: string) => name.toUpperCase(),
    camel,
    (name: string) => camel(`_${name}`),
    (name: string) => name.replaceAll('_', ' '),
    (name: string) => name.replaceAll('_', '-'),
    (name: string) => name.replaceAll('_', '.'),
  ];

  it('a figure is found behind any prefix, before any suffix, in any case', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...figures),
        fc.constantFrom(...cases),
        fc.constantFrom('', 'avg_', 'mean_', 'final_', 'train/', 'losses/', 'run-7/metrics/', 'train/mean_', 'Loss / '),
        fc.constantFrom('', '_mean', '_avg', '/mean', ' (avg)', '_per_epoch'),
        ([name, metric], spelt, prefix, suffix) => {
          expect(one(`${prefix}${spelt(name)}${suffix}`, [0.5])).toBe(metric);
        },
      ),
    );
  });

  it("an agent's name before or after it is the agent's, where several columns differ in it alone", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...figures),
        fc.uniqueArray(fc.constantFrom('IND', 'EDU', 'fox', 'hen', 'alpha', 'beta'), { minLength: 2, maxLength: 4 }),
        fc.constantFrom(
          (name: string, who: string) => `${who}_${name}`,
          (name: string, who: string) => `${name}_${who}`,
          (name: string, who: string) => `${who}/avg_${name}`,
          (name: string, who: string) => `train/${name}/${who}`,
        ),
        ([name, metric], agents, place) => {
          const rows = recognise(
            agents.map((who) => place(name, who)),
            () => [0.5],
          );
          expect(rows.map(({ metric: found, agent }) => [found, agent])).toEqual(agents.map((who) => [metric, who]));
        },
      ),
    );
  });

  it.each([
    ['熵', 'entropy'],
    ['平均策略损失', 'policy_loss'],
    ['价值损失', 'value_loss'],
    ['优势均值', 'advantage_mean'],
    ['训练/回报', 'return'],
    ['KL散度', 'kl'],
    ['智能体1回报', 'return of 智能体1'],
    ['avg_entropy', 'entropy'],
    ['avgValueLoss', 'value_loss'],
    ['final_avg_kl', 'kl'],
    ['reward_agent_3', 'return of agent_3'],
    ['eval/avg_return', 'evaluation_return'],
    ['update_id', 'null'],
    ['kl_max', 'null'],
    ['target_kl', 'null'],
    ['world_model_loss', 'null'],
  ])('%s is %s', (name, expected) => {
    expect(one(name)).toBe(expected);
  });

  it('a name that is not understood comes with what it may be, and a count does not', () => {
    const guesses = (name: string) => recognise([name], () => [])[0].guesses;
    expect(guesses('my_kl_thing')).toContain('kl');
    expect(guesses('polcy_los')[0]).toBe('policy_loss');
    expect(guesses('zzz')).toEqual([]);
    expect(recognise(['update_id'], () => [])[0].note).toBe('speed, time or counts');
    expect(recognise(['kl_max'], () => [])[0].note).toBe('least, greatest or spread of kl');
  });
});

describe('a table of 20,000 strange columns', () => {
  it('is recognised in the time that so many names take, with guesses for the first of them', () => {
    const rows = recognise(
      Array.from({ length: 20_000 }, (_, i) => `my_kl_thing_${i}x`),
      () => [],
    );
    expect(rows[0].guesses).toContain('kl');
    expect(rows.at(-1)!.guesses).toEqual([]);
  });
});

describe('mapping by hand', () => {
  const names = ['avg_kl', 'minus_h', '-odd'];
  it('wins over the table, negates on request, and takes names that begin with a minus as they are', () => {
    const mapped = parseMaps(['clip_fraction=avg_kl', 'entropy=-minus_h', 'loss=-odd'], names);
    expect(recognise(names, () => [], mapped).map(({ metric, sign, used }) => [metric, sign, used])).toEqual([
      ['clip_fraction', 1, true],
      ['entropy', -1, true],
      ['loss', 1, true],
    ]);
  });

  it.each([
    ['kl', '--map kl: a metric and a column, such as kl=avg_kl_divergence, were expected'],
    ['klx=avg_kl', '--map klx=avg_kl: there is no metric "klx"; the metrics are kl, kl_k1'],
    ['kl=nothing', '--map kl=nothing: the log has no column "nothing"; it has avg_kl, minus_h, -odd'],
  ])('refuses %s with a sentence', (map, sentence) => {
    expect(() => parseMaps([map], names)).toThrow(sentence);
  });
});

describe('settings that a log declares', () => {
  it('are taken over under our names', () => {
    const declared = new Map<string, unknown>([
      ['update_epochs', '4'],
      ['num_minibatches', '8'],
      ['clip_coef', '0.2'],
      ['target_kl', 'None'],
      ['norm_adv', 'True'],
    ]);
    expect(knownSettings(declared)).toEqual({ epochs: 4, minibatches: 8, clip: 0.2 });
    expect(
      knownSettings(
        new Map<string, unknown>([
          ['train_batch_size', 4000],
          ['sgd_minibatch_size', 128],
        ]),
      ),
    ).toEqual({ minibatches: 32 });
  });
});
