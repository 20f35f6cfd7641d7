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

const modules: Record<string, readonly [label: string, explanation: string]> = {
  'world_model.loss': ['世界模型：损失', '各网络损失之和，对这次更新取平均。'],
  'world_model.error': ['世界模型：误差', '想象所用的任何一项出错的步数比例。'],
  'world_model.cells': ['世界模型：位置', '玩家下一个格子出错的步数比例。'],
  'world_model.catches': ['世界模型：捕获', '发生或预测会发生捕获的步中，谁离开或什么消失出错的比例。'],
  'world_model.reward': ['世界模型：奖励', '对各玩家奖励的平均绝对误差。'],
  'world_model.paid': ['世界模型：得到的奖励', '对得到奖励的玩家的平均绝对误差。'],
  'world_model.masks': ['世界模型：合法掩码', '下一个合法掩码出错的步数比例。'],
  'world_model.ends': ['世界模型：结束', '对局是否结束出错的步数比例。'],
  'imagination.length': ['想象的步数', '下一次想象推演的步数。'],
  'imagination.rows': ['想象的行数', '这次迭代中想象的行数。'],
  'other_agents.loss': ['其他智能体：损失', '交叉熵，对这次更新取平均。'],
  'other_agents.error': ['其他智能体：误差', '留出选择的交叉熵。'],
  'other_agents.right': ['其他智能体：预见', '留出选择中恰为最可能者的比例。'],
  'other_agents.majority': ['其他智能体：多数', '总是猜最常见动作所能达到的比例。'],
  'other_agents.best': ['其他智能体：上限', '真实策略最大概率的均值，无人能超过。'],
  'subgoal.prior_loss': ['子目标：先验损失', '先验的损失，每个状态的奈特数，对这次更新取平均。'],
  'subgoal.loss': ['子目标：损失', '后验的损失，每个状态的奈特数，对这次更新取平均。'],
  'subgoal.error': ['子目标：误差', '由后验的猜测重建留出子目标所需的奈特数。'],
  'subgoal.error_prior': ['子目标：仅先验', '仅由先验重建所需的奈特数。'],
  'subgoal.error_constant': ['子目标：常数', '由各分量自身频率重建所需的奈特数。'],
  'subgoal.mix': ['子目标：混合', '策略所见子目标中先验的比例。'],
};
for (const [name, [label, explanation]] of Object.entries(modules)) chinese[name] = [label, '', explanation];

const roles = { trunk: '主干', head: '输出头', critic: '评论家' } as const;
for (const [role, name] of Object.entries(roles)) {
  Object.assign(chinese, {
    [`grad_norm.${role}`]: [`${name}的梯度`, '', `为 0 表示没有梯度到达${name}。`],
    [`change.${role}`]: [`${name}的变化`, '', `有梯度而变化为 0，表示没有优化器持有${name}。`],
  });
}

/** What is not in the table of readings: English, then Chinese. */
const both: Record<string, readonly [label: string, explanation: string, chinese: string, explained: string]> = {
  return: [
    'return',
    'Mean return of each agent over the episodes that ended in an iteration.',
    '回报',
    '每局结束的智能体在该次迭代中的平均回报。',
  ],
  'value_normaliser.mean': [
    'value normaliser: mean',
    'The mean of the returns by which the critic learns.',
    '价值归一化：均值',
    '评论家学习时所用的回报均值。',
  ],
  'value_normaliser.spread': [
    'value normaliser: spread',
    'The spread of the returns by which the critic learns.',
    '价值归一化：离散度',
    '评论家学习时所用的回报离散度。',
  ],
  'subgoal.length': ['subgoals followed', 'Decisions with a subgoal.', '子目标数', '带有子目标的决策数。'],
  'subgoal.expected': [
    'subgoals expected',
    'Decisions that should have one.',
    '应有子目标数',
    '应当带有子目标的决策数。',
  ],
  order: ['order of updates', 'In which place each agent was updated.', '更新次序', '各智能体排在第几个更新。'],
};

const counts: Record<string, readonly [string, string]> = {
  updates: ['updates', '更新次数'],
  buffer: ['rows held', '缓冲行数'],
  push: ['rows stored', '存入行数'],
  early_return: ['learning left out', '跳过学习的次数'],
  stale: ['rows thrown away', '丢弃行数'],
};
const counted: Record<string, readonly [string, string]> = {
  policy: ['policy', '策略'],
  real: ['real', '真实'],
  imagined: ['imagined', '想象'],
  imagination: ['imagination', '想象'],
  world_model: ['world model', '世界模型'],
  other_agents: ['other agents', '其他智能体'],
  subgoal: ['subgoals', '子目标'],
};

/** Counters are called by what is counted, and of what. */
function counter(name: string, chinese: number): Told | undefined {
  const [what, of, ...whom] = name.split('.');
  if (!counts[what] || !counted[of]) return undefined;
  const whole = (part: number) => [counted[of][part], ...whom].join(' ');
  const label = chinese ? `${whole(1)}：${counts[what][1]}` : `${whole(0)}: ${counts[what][0]}`;
  const explanation = chinese
    ? '各智能体的累计数；相同的智能体应当相近。'
    : 'A count for each agent; agents that are alike should be close.';
  return { label, unit: '', explanation };
}

/** What a chart says of its figure; undefined where the table of readings says it, or nobody does. */
export function describeReading(name: string, language: Language): Told | undefined {
  const zh = language === 'zh' ? 1 : 0;
  if (Object.hasOwn(both, name)) return { label: both[name][2 * zh], unit: '', explanation: both[name][2 * zh + 1] };
  const told = zh && Object.hasOwn(chinese, name) ? chinese[name] : undefined;
  if (told) return { label: told[0], unit: told[1], explanation: told[2] };
  return counter(name, zh);
}
