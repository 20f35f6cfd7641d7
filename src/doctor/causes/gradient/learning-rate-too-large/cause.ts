/** Steps overshoot. */
import type { CauseEntry } from '../../cause.ts';

export const learningRateTooLarge: CauseEntry = {
  id: 'learning-rate-too-large',
  group: 'C',
  place: 420,
  follows: ['ratio'],
  explains: ['policy-collapsed', 'non-finite', 'advantage-sign-flipped', 'metric-misreported', 'policy-head-flat'],
  decidedBy: ['replays.new_logp'],
  meaning: 'Steps overshoot.',
  toldApart: 'k3 above 0.3 in half of the iterations, while the ratio is 1 before the first step.',
  symptoms: ['clip fraction far above 0.3 from the first epochs', 'returns collapse', 'entropy falls at once'],
  pictures: ['kl', 'changes'],
  proof: 'Rows replay exactly before the first step and are far away after few steps.',
  remedy: 'Lower the learning rate, or the number of epochs, until k3 stays near 0.01 to 0.03.',
  pytorch: `optimizer = Adam(actor.parameters(), lr=3e-4)
if approx_kl > 1.5 * target_kl: break`,
  trueline: 'ppo: { learningRate: 3e-4, targetKl: 0.02 }',
  chinese: {
    symptoms: ['从最初几轮起裁剪比例就远高于 0.3', '回报崩溃', '熵立刻下降'],
    meaning: '每一步都走过了头。',
    remedy: '降低学习率或轮数，直到 k3 保持在 0.01 至 0.03 附近。',
    toldApart: '半数迭代中 k3 大于 0.3，而第一步之前比率为 1。',
    proof: '第一步之前各行精确重放，几步之后就相差很远。',
  },
};
