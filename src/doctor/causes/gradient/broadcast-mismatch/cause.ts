/** A column of shape (B) met one of shape (B, 1), and the loss is over all B x B pairs. */
import type { CauseEntry } from '../../cause.ts';

export const broadcastMismatch: CauseEntry = {
  id: 'broadcast-mismatch',
  group: 'C',
  place: 290,
  explains: ['metric-misreported', 'advantage-sign-flipped', 'policy-detached', 'learning-rate-too-small'],
  decidedBy: ['steps.policy_loss', 'replays.advantage'],
  meaning: 'A column of shape (B) met one of shape (B, 1), and the loss is over all B x B pairs.',
  toldApart: "The reported loss agrees with the outer product's mean.",
  symptoms: ['the critic predicts the mean return everywhere', 'the policy loss is near 0 whatever happens'],
  pictures: ['reported-policy_loss'],
  proof: 'The mean over all pairs reproduces the reported loss; the mean over rows does not.',
  remedy: 'Give both columns one shape, and assert it before subtracting or multiplying.',
  pytorch: `value = value.squeeze(-1)
assert value.shape == returns.shape`,
  trueline: 'columns are flat typed arrays of one length',
  chinese: {
    symptoms: ['评论家处处预测平均回报', '无论发生什么，策略损失都接近 0'],
    meaning: '形状 (B) 的列遇到形状 (B, 1) 的列，损失变成了 B x B 个配对上的值。',
    remedy: '让两列形状一致，并在相减或相乘之前断言。',
    toldApart: '所报告的损失与外积的均值一致。',
    proof: '对所有配对取均值得出所报告的损失，对各行取均值则不能。',
  },
};
