/** The log-probability of an action with several dimensions is not their sum. */
import type { CauseEntry } from '../../cause.ts';

export const dimensionsReducedWrong: CauseEntry = {
  id: 'dimensions-reduced-wrong',
  group: 'A',
  place: 63,
  family: 'ratio',
  explains: [
    'old-logp-wrong',
    'inputs-differ',
    'recurrent-state-not-replayed',
    'critic-context-misaligned',
    'broadcast-mismatch',
    'learning-rate-too-small',
    'learning-rate-too-large',
  ],
  decidedBy: ['samples.action_values', 'samples.env_action', 'samples.mean', 'samples.log_std', 'replays.mean'],
  meaning:
    'The log-probability of an action with several dimensions is their mean, or that of one of them, in place of their sum.',
  toldApart: 'One pass, or both, are given exactly by the mean or by one dimension, and not by the sum.',
  symptoms: [
    'ratios are far off 1 before the first step, or, where both passes do it, hardly ever leave 1',
    'the clip never acts although the policy moves',
  ],
  proof: 'The mean or the single dimension gives every row to rounding.',
  remedy: 'Sum log-probabilities over the last axis, in both passes.',
  pytorch:
    'logp = Normal(mean, std).log_prob(action).sum(-1)      # not .mean(), and not the (B, D) itself\n# or: Independent(Normal(mean, std), 1).log_prob(action)',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['第一步之前比率远离 1；若两次计算都这样做，则几乎从不离开 1', '策略在变，裁剪却从不起作用'],
    meaning: '多维动作的对数概率取了各维的平均或其中一维，而不是它们的和。',
    remedy: '在两次前向中都沿最后一个轴对对数概率求和。',
    toldApart: '其中一遍或两遍可由均值或某一维精确得出，而不是由总和得出。',
    proof: '用均值或单个维度可得出每一行，误差仅为舍入。',
  },
};
