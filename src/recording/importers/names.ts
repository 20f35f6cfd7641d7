/** The one table of names: what programs call the numbers they log, and what Trueline calls them. A new program is a few more words here and nothing elsewhere. */

export interface Metric {
  readonly name: string;
  readonly unit: string;
  readonly meaning: string;
  /**
   * Names as programs write them, best first. Only their words count: case, underscores, slashes and what surrounds them do not. A minus before a name
   * means that the program logs the negated figure, a question mark that its sign is read off the numbers.
   */
  readonly sources: readonly string[];
}

const metric = (name: string, unit: string, meaning: string, ...sources: string[]): Metric => ({
  name,
  unit,
  meaning,
  sources: sources.flatMap((line) => line.split(' ')),
});

export const metrics: readonly Metric[] = [
  metric(
    'kl',
    'nats',
    'how far the update moved the policy, by an estimate that is never negative',
    'approx_kl k3 learner_stats/kl mean_kl_loss info/kl kl_divergence kl_div approx_kl_div',
    'policy_kl k2 kl kl散度',
  ),
  metric(
    'kl_k1',
    'nats',
    'the same by the mean of old minus new log-probability, which is noisy and may be negative',
    'old_approx_kl ppo_kl policy/policykl k1 k1_kl',
  ),
  metric(
    'reference_kl',
    'nats',
    'how far the policy is from a frozen reference; says nothing about one update',
    'objective/kl ref_kl kl_ref actor/kl_loss reward_kl_penalty reference_kl',
  ),
  metric(
    'clip_fraction',
    'share',
    'share of rows whose ratio left the clip range',
    'clip_fraction clipfrac clipfracs pg_clipfrac ppo_clip_fraction clip_ratio/region_mean clip_ratio',
    'clip_rate clipped_fraction clipped_ratio 裁剪比例 裁剪率',
  ),
  metric(
    'value_clip_fraction',
    'share',
    'share of value estimates that were clipped',
    'val/clipfrac vf_clipfrac value_clip_fraction value_clipfrac',
  ),
  metric(
    'entropy',
    'nats',
    'how undecided the policy is',
    'entropy policy/entropy_avg policy_entropy dist_entropy actor/entropy_loss -train/entropy_loss',
    '?entropy_loss loss/ent policy_ent action_entropy ?loss_entropy 策略熵 熵 ent',
  ),
  metric('entropy_ratio', 'share', 'entropy divided by log K', 'entropy_ratio normalized_entropy relative_entropy'),
  metric(
    'sequence_entropy',
    'nats per answer',
    'surprise of whole sampled answers; grows with their length',
    'objective/entropy',
  ),
  metric(
    'policy_loss',
    '',
    'the clipped surrogate',
    'policy_gradient_loss policy_loss loss/policy_avg loss/policy pg_loss actor_loss a_loss surrogate losspi loss/clip',
    'pi_loss policy_gradient loss_actor surrogate_loss policy/loss_after 策略损失',
  ),
  metric(
    'value_loss',
    '',
    "the critic's error",
    'value_loss loss/value_avg loss/value vf_loss critic_loss c_loss v_loss lossv value_function loss/vf',
    'value_function_loss baseline_loss loss_critic vfunction/loss_after 价值损失 值函数损失 评论家损失',
  ),
  metric('loss', '', 'the whole loss', 'total_loss loss 总损失 损失'),
  metric(
    'explained_variance',
    'share',
    'how much of the returns the critic foresaw',
    'explained_variance explained_var vf_explained_var var_explained explained ev 解释方差',
  ),
  metric(
    'learning_rate',
    '',
    'step size of the policy',
    'learning_rate actor/lr cur_lr current_lr last_lr default_optimizer_learning_rate lr 学习率',
  ),
  metric('critic_learning_rate', '', 'step size of the critic', 'critic/lr critic_learning_rate'),
  metric(
    'grad_norm',
    '',
    'length of the gradient before clipping',
    'grad_norm gradient_norm total_grad_norm grad_gnorm gradients_default_optimizer_global_norm global_norm',
    'gradient_global_norm 梯度范数',
  ),
  metric(
    'policy_grad_norm',
    '',
    "length of the actor's own gradient",
    'actor/grad_norm agent_grad_norm policy_grad_norm',
  ),
  metric('critic_grad_norm', '', "length of the critic's own gradient", 'critic/grad_norm value_grad_norm'),
  metric(
    'ratio',
    '',
    'mean of new / old probability',
    'ratio_mean val/ratio mean_ratio importance_ratio ratio 重要性比率',
  ),
  metric(
    'advantage_mean',
    '',
    'mean of the advantages',
    'advantages_mean advantage_mean adv_mean advantages_avg advantages advantage adv 优势均值 优势',
  ),
  metric(
    'advantage_std',
    '',
    'spread of the advantages',
    'advantages_std advantage_std adv_std advantage_stddev 优势标准差',
  ),
  metric(
    'groups_without_signal',
    'share',
    'share of groups whose answers all got the same reward, and so no advantage',
    'frac_reward_zero_std',
  ),
  metric(
    'return',
    'reward',
    'what episodes paid while training',
    'ep_rew_mean episodic_return episode_return_mean episode_reward_mean policy_reward_mean agent_episode_returns_mean',
    'module_episode_returns_mean episode_return episode_reward average_episode_rewards ep_return averageepret',
    'cumulative_reward return_mean return returns mean_reward env/reward_mean score/mean objective/scores',
    'objective/rlhf_reward rewards/mean total_reward_(mean) rewards/step reward_mean reward episode_rewards episode_returns',
    'total_reward ep_ret rew_avg rewards/rew_avg score rewards r 累计奖励 回报 奖励',
  ),
  metric(
    'evaluation_return',
    'reward',
    'what episodes paid when evaluated',
    'eval/mean_reward eval/ep_rew_mean eval/return eval/episodic_return evaluation_return evaluation/episode_return_mean',
    'evaluation/episode_reward_mean test_return_mean',
  ),
  metric(
    'episode_length',
    'steps',
    'how long episodes are',
    'ep_len_mean episodic_length episode_len_mean eplen episode_length train/length 回合长度',
  ),
  metric('updates', '', 'epochs of optimisation so far', 'n_updates'),
  metric(
    'epochs_run',
    '',
    'epochs of one update until it was stopped',
    'stop_iter early_stop_epoch epochs_run epochs_done stop_epoch',
  ),
  metric('clip_range', '', 'the clip range in force', 'clip_range e_clip'),
  metric(
    'entropy_coefficient',
    '',
    'weight of the entropy bonus',
    'entropy_coeff ent_coef entropy_coef curr_entropy_coeff',
  ),
];

/** Beside these names a bare `kl` is the distance to a reference, as in TRL's group-relative trainer. */
export const besideReference = /^(completions?\/|completion_length|rewards\/|frac_reward_zero_std)/i;

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Words that may stand around a figure's name and change nothing about it. */
export const decorations = words(
  'avg average averaged mean final last latest current cur running smoothed ema moving train training per epoch epochs batch ' +
    'minibatch rollout overall all global gaussian categorical mlp lstm gru cnn policy actor ppo mappo ippo pi agent nats 平均 均值 最终 训练 每轮 当前',
);

/** Words of one kind of figure about another: its least, its greatest, its spread. It is kept, and not taken for the figure itself. */
export const statistics = words(
  'min max minimum maximum std stdev stddev var median low high abs rms p5 p25 p75 p95 lowest highest 最大 最小 标准差 方差 中位数',
);

/** Words that make a name that of a setting or of the network, not of a figure of the training. */
export const settings = words(
  'coef coeff coefficient weight weights bias target limit threshold penalty hist histogram layer layers param params kernel head init 系数 目标 阈值',
);

/** Speed, memory, time and counts; they are kept and not judged. */
export const housekeeping = words(
  'fps sps time times timing perf computation noise elapsed duration seconds sec secs ms iteration iterations iter it tokens seqlen timers timestamp pid ' +
    'done date hostname ip gpu cpu ram memory system epoch epochs step steps runtime id idx index number num count counts seed update updates ' +
    'episode episodes timestep timesteps frames 步数 轮次 回合 迭代 更新 时间 序号 种子',
);

/** What players are called, before their number. */
export const playerWords = words(
  'agent player seat policy pol team unit robot predator prey adversary agents players seats policies teams units robots 智能体 玩家 代理',
);

/** Settings as programs call them, by the manifest's names. */
export const settingNames: Record<string, readonly string[]> = {
  gamma: ['gamma'],
  lambda: ['gae_lambda', 'lambda', 'lambda_', 'lam'],
  clip: ['clip_coef', 'clip_param', 'clip_range', 'cliprange', 'clip_ratio', 'epsilon'],
  epochs: ['update_epochs', 'num_sgd_iter', 'num_epochs', 'n_epochs', 'ppo_epochs', 'num_ppo_epochs', 'ppo_epoch'],
  minibatches: ['num_minibatches', 'num_mini_batches', 'num_mini_batch', 'nminibatches'],
  learning_rate: ['learning_rate', 'lr'],
  entropy_coefficient: ['ent_coef', 'entropy_coeff', 'entropy_coef'],
  value_coefficient: ['vf_coef', 'vf_loss_coeff', 'value_loss_coef'],
  max_grad_norm: ['max_grad_norm', 'grad_clip'],
  target_kl: ['target_kl'],
};
