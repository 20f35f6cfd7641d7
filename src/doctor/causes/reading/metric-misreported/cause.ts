/** A reported metric is not what the rows give. */
import type { CauseEntry } from '../../cause.ts';

export const metricMisreported: CauseEntry = {
  id: 'metric-misreported',
  group: 'E',
  place: 450,
  follows: ['ratio'],
  decidedBy: ['steps.approx_kl', 'steps.clip_fraction', 'steps.entropy'],
  meaning: 'A reported metric is not what the rows give.',
  toldApart: 'Recomputation.',
  symptoms: ['readings that contradict each other', 'a KL of 0 beside a clip fraction above 0'],
  pictures: ['reported-approx_kl', 'reported-clip_fraction', 'reported-entropy', 'kl'],
  proof:
    'The reported number differs from the one recomputed from the same rows, and agrees with another formula where one is named.',
  remedy: 'Average the metric over all rows of the update, from the ratios and distributions of the loss itself.',
  pytorch: 'metrics["approx_kl"] += kl * len(rows)          # then divide by all rows, once',
  trueline: 'readings are means over all rows of all minibatches',
  chinese: {
    symptoms: ['读数互相矛盾', 'KL 为 0，裁剪比例却大于 0'],
    meaning: '所报告的指标与数据行给出的不符。',
    remedy: '在更新的所有行上求平均，使用损失自身的比率与分布。',
    toldApart: '重算。',
    proof: '所报告的数与由同样各行重算的不同；若指出了另一公式，则与之一致。',
  },
};
