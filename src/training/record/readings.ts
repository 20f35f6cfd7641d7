/** The one table of readings: what each figure is, how it is computed, and where it usually lies. A band informs; being outside it is not a fault. */
import { told } from '../../language/language.ts';

export interface Reading {
  readonly name: string;
  readonly label: string;
  readonly unit: string;
  readonly formula: string;
  /** Where healthy runs usually are; null stands for no limit on that side, an absent band for no expectation. */
  readonly band?: readonly [number | null, number | null];
  readonly explanation: string;
  readonly chinese: { readonly label: string; readonly explanation: string };
}

/** What it is called in the language that is spoken. */
export const labelOf = ({ label, chinese }: Reading): string => told(label, chinese.label);

const overSteps = 'mean over all rows of all minibatches of the update';

const entries = [
  reading(
    'k1',
    'KL k1',
    'nats',
    `old_logp - new_logp, ${overSteps}`,
    undefined,
    'An unbiased but noisy estimate of how far the policy has moved. It may be negative.',
    ['KL k1', '对策略移动幅度的无偏但噪声大的估计，可以为负。'],
  ),
  reading(
    'k2',
    'KL k2',
    'nats',
    `half the squared log-ratio, ${overSteps}`,
    undefined,
    'A steady estimate of how far the policy has moved, for small moves.',
    ['KL k2', '小幅移动时对策略移动幅度的稳定估计。'],
  ),
  reading(
    'k3',
    'KL k3',
    'nats',
    `ratio - 1 - log ratio, ${overSteps}`,
    [0.01, 0.03],
    'An unbiased estimate that is never negative. Near 0 the steps are invisible, far above the band they overshoot.',
    ['KL k3', '从不为负的无偏估计。接近 0 时步子看不出来，远高于范围时步子过大。'],
  ),
  reading(
    'clip_fraction',
    'clipped',
    'share',
    `share of rows with |ratio - 1| > clip, ${overSteps}`,
    [0.05, 0.3],
    'How much of the batch has reached the edge of the trust region.',
    ['裁剪比例', '批次中有多少已到达信任区域的边界。'],
  ),
  reading(
    'ratio_mean',
    'ratio',
    '',
    `new / old probability, ${overSteps}`,
    [0.9, 1.1],
    'Stays near 1 when old and new log-probabilities belong to the same rows.',
    ['比率', '新旧对数概率属于同一行时停在 1 附近。'],
  ),
  reading(
    'ratio_std',
    'ratio spread',
    '',
    'standard deviation of the ratio over the same rows',
    undefined,
    'How unevenly the update treats rows.',
    ['比率标准差', '更新对各行的影响有多不均匀。'],
  ),
  reading(
    'entropy',
    'entropy',
    'nats',
    `entropy over the row's own candidates, ${overSteps}`,
    undefined,
    'How undecided the policy is. It falls slowly in healthy training.',
    ['熵', '策略有多犹豫。健康的训练中它缓慢下降。'],
  ),
  reading(
    'entropy_ratio',
    'entropy / log K',
    'share',
    'entropy divided by the logarithm of the number of legal candidates, mean over rows that have two or more',
    [null, 0.98],
    'At 1 the policy chooses at random; if it stays there, nothing is being learnt.',
    ['熵 / log K', '为 1 时策略盲目选择；长期停在那里意味着什么也没学到。'],
  ),
  reading(
    'policy_loss',
    'policy loss',
    '',
    `clipped surrogate, ${overSteps}`,
    undefined,
    'Its size says little, and its sign and trend mean nothing on their own.',
    ['策略损失', '大小说明不了什么；符号与趋势本身也没有用。'],
  ),
  reading(
    'value_loss',
    'value loss',
    '',
    `the critic's error in the units it learns in, ${overSteps}`,
    undefined,
    'With value normalisation, always predicting the mean return gives 1.',
    ['价值损失', '对价值归一化后，预测平均回报时为 1。'],
  ),
  reading(
    'explained_variance',
    'explained',
    'share',
    '1 - variance(return - value) / variance(return), over the batch before the update',
    [0, null],
    'How much of the returns the critic foresaw. Below 0 it is worse than a constant.',
    ['解释方差', '评论家预见了回报的多少。低于 0 则不如一个常数。'],
  ),
  reading(
    'grad_norm',
    'gradient',
    '',
    'length of the whole gradient before clipping, mean over steps',
    undefined,
    'Compare it with the length that gradients are clipped to (ppo.maxGradNorm): far above that, every step is clipped to the same length.',
    ['梯度', '与梯度截断的长度（ppo.maxGradNorm）比较：远高于它时，每一步都被截成同样的长度。'],
  ),
  ...(['trunk', 'head', 'critic'] as const).flatMap((role) => [
    reading(
      `grad_norm.${role}`,
      `gradient ${role}`,
      '',
      `length of the ${role}'s gradient after clipping, mean over measured steps`,
      [Number.MIN_VALUE, null],
      `0 means that no gradient reaches the ${role}.`,
      [`${role} 的梯度`, `0 表示没有梯度到达 ${role}。`],
    ),
    reading(
      `change.${role}`,
      `change ${role}`,
      '',
      `length of the ${role}'s parameter change, mean over measured steps`,
      [Number.MIN_VALUE, null],
      `0 with a gradient means that no optimiser holds the ${role}.`,
      [`${role} 的变化`, `有梯度而为 0，表示没有优化器持有 ${role}。`],
    ),
  ]),
  reading(
    'delta_logits',
    'logits moved',
    '',
    "root mean square change of the same minibatch's logits across a step, mean over measured steps",
    [Number.MIN_VALUE, null],
    'Whether a step changes what the policy outputs.',
    ['logits 变化', '一步是否改变策略的输出。'],
  ),
  reading(
    'kl_after',
    'KL after',
    'nats',
    'half the squared log-ratio after the last step, mean over rows of the last minibatch',
    [0.01, 0.03],
    'How far the whole update has moved the policy.',
    ['更新后 KL', '整个更新把策略移动了多远。'],
  ),
  reading(
    'input_spread',
    'input spread',
    '',
    "standard deviation of the observation's entries over the batch",
    undefined,
    'Very large inputs saturate the first layer; 0 carries no information.',
    ['输入标准差', '很大的输入会使第一层饱和；0 不含信息。'],
  ),
  reading(
    'logit_spread',
    'logit spread',
    '',
    'standard deviation of the logits within a row, mean over rows of measured steps',
    undefined,
    'Near 0 the choice is uniform whatever the input.',
    ['logits 标准差', '接近 0 时，无论输入如何都是均匀选择。'],
  ),
  reading(
    'credit_correlation',
    'credit correlation',
    '',
    'correlation of log-ratio with the advantage recomputed from rewards, values and ends, over all steps but the first',
    [0, null],
    'Positive when probability moves to actions that paid off. Around 0, rows and credit may not belong together.',
    ['优势相关', '概率流向有回报的动作时为正。接近 0 时数据行与优势可能不相配。'],
  ),
  reading(
    'valid_ratio',
    'valid',
    'share',
    'share of rows whose replayed log-probability agreed with the stored one',
    [0.9, 1],
    'Below 1, the update does not use the distribution that the actions were sampled from.',
    ['有效比例', '低于 1 时，更新看到的不是采样时的分布。'],
  ),
  reading(
    'learning_rate',
    'learning rate',
    '',
    "the trunk's learning rate in this update",
    undefined,
    'Changes only if it is annealed or adapted.',
    ['学习率', '只在退火或自适应时变化。'],
  ),
] as const;

function reading<Name extends string>(
  name: Name,
  label: string,
  unit: string,
  formula: string,
  band: readonly [number | null, number | null] | undefined,
  explanation: string,
  [labelZh, explanationZh]: readonly [label: string, explanation: string],
): Reading & { readonly name: Name } {
  const chinese = { label: labelZh, explanation: explanationZh };
  return { name, label, unit, formula, explanation, chinese, ...(band ? { band } : {}) };
}

export type ReadingName = (typeof entries)[number]['name'];
/**
 * Every reading of a run: name, unit, formula, usual band and what it tells.
 *
 * @example
 * for (const { name, formula, band } of readings) console.log(name, formula, band);
 */
export const readings: readonly Reading[] = entries;
/** One update's readings; NaN where one was not measured. */
export type Readings = Record<ReadingName, number>;

/** Whether a reading lies in its band; undefined where it has none or was not measured. */
export function inBand(name: ReadingName, value: number): boolean | undefined {
  const band = entries.find((entry) => entry.name === name)?.band;
  if (!band || Number.isNaN(value)) return undefined;
  return (band[0] === null || value >= band[0]) && (band[1] === null || value <= band[1]);
}

export function noReadings(): Readings {
  return Object.fromEntries(entries.map((entry) => [entry.name, Number.NaN])) as Readings;
}
