/** The fixed order of updates decides the ranking. */
import type { CauseEntry } from '../../cause.ts';

export const trainingOrderMatters: CauseEntry = {
  id: 'training-order-matters',
  group: 'F',
  place: 1050,
  meaning: 'The fixed order of updates decides the ranking.',
  toldApart: 'The ranking moves when the order is reversed or shuffled.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'Runs that differ only in the order rank differently.',
  remedy: 'Shuffle or rotate the order of updates every iteration.',
  pytorch: 'for agent in rng.permutation(agents): agent.update()',
  trueline: 'order: shuffled',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '固定的更新顺序决定了排名。',
    remedy: '每次迭代打乱或轮换更新顺序。',
    toldApart: '次序反转或打乱时，排名随之改变。',
    proof: '只有次序不同的训练排名不同。',
  },
};
