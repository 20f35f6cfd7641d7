/** Estimator, sign, coefficient or place of the KL term is not the declared one. */
import type { CauseEntry } from '../../cause.ts';

export const klTermWrong: CauseEntry = {
  id: 'kl-term-wrong',
  group: 'C',
  place: 276,
  decidedBy: ['samples.reference_logp', 'replays.coef', 'replays.kl'],
  meaning: 'Estimator, sign, coefficient or place of the KL term is not the declared one.',
  toldApart: 'The fit of the derivative of the loss, or of the rewards, names the term that is there.',
  symptoms: ['KL that runs away, or holds the policy still'],
  proof: 'The fit is exact with another KL term.',
  remedy: 'Compute the KL term as declared, and add it once, in the loss or in the reward.',
  pytorch: 'kl = (ref - logp).exp() - 1 - (ref - logp)      # k3, times its coefficient, added to the loss',
  chinese: {
    symptoms: ['KL 失控，或使策略不动'],
    meaning: 'KL 项的估计式、符号、系数或位置与声明不符。',
    remedy: '按声明计算 KL 项，并且只加一次：加在损失里或奖励里。',
    toldApart: '对损失导数或奖励的拟合指出实际存在的是哪一项。',
    proof: '换用另一个 KL 项时拟合精确成立。',
  },
};
