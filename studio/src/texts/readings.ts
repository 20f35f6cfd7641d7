/** The readings in Chinese; in English they are what the table of readings says. A figure that is not one of ours keeps the name that its run gave it. */
import type { Language } from './index.svelte.ts';

interface Told {
  label: string;
  unit: string;
  explanation: string;
}

const nats = '奈特';
const share = '比例';

const chinese: Record<string, readonly [label: string, unit: string, explanation: string]> = {
  return: ['回报', '', '每局结束的智能体在该次迭代中的平均回报。'],
  k1: ['KL k1', nats, '策略移动距离的无偏但有噪声的估计，可能为负。'],
  k2: ['KL k2', nats, '策略移动距离的平稳估计，适用于小幅移动。'],
  k3: ['KL k3', nats, '无偏且永不为负的估计。接近 0 表示更新看不出效果，远高于范围表示更新过头。'],
  approx_kl: ['KL（训练器自报）', nats, '训练器自己报告的策略移动距离。'],
  clip_fraction: ['被裁剪', share, '批次中已到达信任域边界的比例。'],
  ratio_mean: ['概率比', '', '新旧对数概率属于同一行时，它保持在 1 附近。'],
  ratio_std: ['概率比的离散度', '', '更新对各行的作用有多不均匀。'],
  entropy: ['熵', nats, '策略有多犹豫。健康训练中它缓慢下降。'],
  entropy_ratio: ['熵 / log K', share, '为 1 时策略盲目选择；长期停留表示什么也没学到。'],
  policy_loss: ['策略损失', '', '其大小说明不了什么；符号与趋势本身也没有用处。'],
  value_loss: ['价值损失', '', '使用价值归一化时，只预测平均回报得到 1。'],
  explained_variance: ['解释方差', share, '评论家预见了多少回报。低于 0 时还不如一个常数。'],
  grad_norm: ['梯度', '', '与 ppo.maxGradNorm 比较：远高于它时，每一步都被裁到同样的长度。'],
  delta_logits: ['logits 变化', '', '一步更新是否影响到策略的输出。'],
  kl_after: ['更新后的 KL', nats, '整次更新把策略移动了多远。'],
  input_spread: ['输入的离散度', '', '过大的输入使第一层饱和；为 0 则不含信息。'],
  logit_spread: ['logits 的离散度', '', '接近 0 时，无论输入如何，选择都是均匀的。'],
  credit_correlation: ['优势相关性', '', '概率流向有回报的动作时为正。在 0 附近时，行与优势可能不属于同一样本。'],
  valid_ratio: ['有效行', share, '低于 1 时，更新看到的不是采样时的分布。'],
  learning_rate: ['学习率', '', '只有在退火或自适应时才会变化。'],
};

const roles = { trunk: '主干', head: '输出头', critic: '评论家' } as const;
for (const [role, name] of Object.entries(roles)) {
  Object.assign(chinese, {
    [`grad_norm.${role}`]: [`${name}的梯度`, '', `为 0 表示没有梯度到达${name}。`],
    [`change.${role}`]: [`${name}的变化`, '', `有梯度而变化为 0，表示没有优化器持有${name}。`],
  });
}

const returns: Told = {
  label: 'return',
  unit: '',
  explanation: 'Mean return of each agent over the episodes that ended in an iteration.',
};

/** What a chart says of its figure; undefined where the table of readings says it, or nobody does. */
export function describeReading(name: string, language: Language): Told | undefined {
  if (language === 'en') return name === 'return' ? returns : undefined;
  const told = chinese[name];
  return told && { label: told[0], unit: told[1], explanation: told[2] };
}

/** Names that have a Chinese text, for a test that none is forgotten. */
export const toldInChinese = Object.keys(chinese);
