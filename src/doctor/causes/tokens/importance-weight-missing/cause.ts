/** A declared correction of sampler against trainer does not act. */
import type { CauseEntry } from '../../cause.ts';

export const importanceWeightMissing: CauseEntry = {
  id: 'importance-weight-missing',
  group: 'C',
  place: 272,
  decidedBy: ['replays.coef', 'samples.sampler_logp'],
  meaning: 'A declared correction of sampler against trainer does not act.',
  toldApart: 'The derivative of the loss is exact without the factor.',
  symptoms: ['a correction that changes nothing in the logs'],
  proof: 'The fit of the derivative is exact without the importance weight.',
  remedy: 'Multiply the loss of every token by the (capped) ratio of trainer to sampler before it is summed.',
  pytorch: `weight = (old_logp - sampler_logp).exp().clamp(max=cap).detach()
loss = loss * weight`,
  chinese: {
    symptoms: ['加了修正，日志却毫无变化'],
    meaning: '声明的采样器与训练器之间的修正没有起作用。',
    remedy: '求和之前，把每个词元的损失乘以（截断的）训练器与采样器之比。',
    toldApart: '损失的导数在没有该因子时精确成立。',
    proof: '不带重要性权重时，导数的拟合精确成立。',
  },
};
