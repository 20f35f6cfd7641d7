/** The stored old_logp is not the log-probability of that action under the sampling logits. */
import type { CauseEntry } from '../../cause.ts';

export const oldLogpWrong: CauseEntry = {
  id: 'old-logp-wrong',
  group: 'A',
  place: 380,
  family: 'ratio',
  explains: ['non-finite'],
  decidedBy: ['samples.logits', 'samples.action'],
  meaning: 'The stored old_logp is not the log-probability of that action under the sampling logits.',
  toldApart: 'old_logp disagrees with the sampling logits while the update agrees with them.',
  symptoms: [
    'the ratio is a constant or noise before any step',
    'clip fraction near 1',
    'KL of several nats at epoch 0',
  ],
  proof:
    "Recomputed from the row's own logits, mask and action, the log-probability equals new_logp and not the stored old_logp.",
  remedy:
    'Store dist.log_prob(action) of the very distribution and action that were executed, at the moment of sampling.',
  pytorch: `action = dist.sample()
old_logp = dist.log_prob(action).detach()    # before any clipping or mapping of the action`,
  trueline: 'learner.policy.act(rows, uniforms, 1, out)   // fills action and logp together',
  chinese: {
    symptoms: ['任何一步之前比率是常数或噪声', '裁剪比例接近 1', '第 0 轮的 KL 就有数个 nat'],
    meaning: '保存的 old_logp 不是该动作在采样 logits 下的对数概率。',
    remedy: '在采样的那一刻，保存实际执行的分布与动作的 dist.log_prob(action)。',
    toldApart: 'old_logp 与采样时的 logits 不符，而更新与之相符。',
    proof: '由该行自己的 logits、掩码与动作重算的对数概率等于 new_logp，而不等于所存的 old_logp。',
  },
};
