/** The entropy in the loss is that of another distribution than the actions are drawn from. */
import type { CauseEntry } from '../../cause.ts';

export const entropyOfAnotherDistribution: CauseEntry = {
  id: 'entropy-of-another-distribution',
  group: 'C',
  place: 305,
  explains: ['metric-misreported'],
  decidedBy: ['replays.entropy', 'replays.log_std', 'samples.log_std', 'replays.logits'],
  meaning:
    'The entropy in the loss is exactly that of another distribution than the actions are drawn from: another Gaussian, or logits without their mask.',
  toldApart:
    'It is given to rounding by a deviation taken for its logarithm or square, a deviation of 1, or one dimension, or by the logits of a row without its mask. Sums, means over dimensions and minus the log-probability are healthy.',
  symptoms: [
    'the entropy bonus pushes deviations too hard, or not at all',
    'the logged entropy is off what log_std gives',
  ],
  proof: 'The entropy of the other distribution gives every row to rounding.',
  remedy: 'Take the entropy from the distribution that scores the action: dist.entropy().sum(-1).',
  pytorch:
    'dist = Normal(mean, log_std.exp())\nentropy = dist.entropy().sum(-1)            # of the very distribution that log_prob came from',
  trueline: 'distribution.entropy   // of the masked candidates of the row',
  chinese: {
    symptoms: ['熵奖励把标准差推得过猛，或完全不推', '记录的熵与 log_std 给出的不符'],
    meaning: '损失中的熵恰好属于另一个分布（另一个高斯分布，或未加掩码的 logits），而不是动作所用的分布。',
    remedy: '用给动作打分的那个分布求熵：dist.entropy().sum(-1)。',
    toldApart:
      '把标准差当作其对数或平方、标准差取 1、只取一维，或用该行不加掩码的 logits，就能得出，误差仅为舍入。求和、对维度取均值以及对数概率的相反数都正常。',
    proof: '用另一分布的熵可得出每一行，误差仅为舍入。',
  },
};
