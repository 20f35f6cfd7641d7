/** The loss is a sum over the minibatch instead of a mean. */
import type { CauseEntry } from '../../cause.ts';

export const lossSummed: CauseEntry = {
  id: 'loss-summed',
  group: 'C',
  place: 280,
  explains: [
    'learning-rate-too-large',
    'metric-misreported',
    'value-loss-dominates',
    'policy-collapsed',
    'policy-detached',
    'entropy-sign-flipped',
    'entropy-bonus-dominates',
  ],
  decidedBy: ['steps.policy_loss', 'replays.advantage'],
  meaning: 'The loss is a sum over the minibatch instead of a mean.',
  toldApart: 'The reported loss is N times the recomputed mean; gradients scale with the minibatch.',
  symptoms: ['gradients are always clipped', 'the best learning rate depends on the batch size'],
  pictures: ['reported-policy_loss', 'gradients'],
  proof: 'The reported loss equals the sum of its rows, step after step.',
  remedy: 'Take the mean over rows.',
  pytorch: 'loss = per_row_loss.mean()                     # not .sum()',
  trueline: 'losses are means over the total weight',
  chinese: {
    symptoms: ['梯度总是被裁剪', '最佳学习率取决于批大小'],
    meaning: '损失是小批次上的和，而不是均值。',
    remedy: '对行取均值。',
    toldApart: '所报告的损失是重算均值的 N 倍；梯度随小批次大小成比例。',
    proof: '每一步所报告的损失都等于其各行之和。',
  },
};
