/** The reported KL is the mean of old - new and is mostly noise at this batch size. */
import type { CauseEntry } from '../../cause.ts';

export const klEstimatorCancels: CauseEntry = {
  id: 'kl-estimator-cancels',
  group: 'E',
  place: 440,
  follows: ['ratio'],
  decidedBy: ['steps.approx_kl'],
  meaning: 'The reported KL is the mean of old - new and is mostly noise at this batch size.',
  toldApart: "The reported KL equals k1, and k1's standard error exceeds half of k2 while the policy visibly moves.",
  symptoms: ['KL reads 0 or negative', 'a KL stop that fires at random'],
  pictures: ['kl'],
  proof: 'The reported number equals k1 step by step, and its noise exceeds what it measures.',
  remedy: 'Report k3 = mean(ratio - 1 - log ratio).',
  pytorch: `log_ratio = new_logp - old_logp
approx_kl = (log_ratio.exp() - 1 - log_ratio).mean()`,
  trueline: 'the reading k3',
  chinese: {
    symptoms: ['KL 读数为 0 或负', '按 KL 提前停止随机触发'],
    meaning: '所报告的 KL 是 old - new 的均值，在此批次大小下大多是噪声。',
    remedy: '改为报告 k3 = mean(ratio - 1 - log ratio)。',
    toldApart: '所报告的 KL 等于 k1，且 k1 的标准误超过 k2 的一半，而策略明显在变。',
    proof: '所报告的数每一步都等于 k1，而其噪声超过所测的量。',
  },
};
