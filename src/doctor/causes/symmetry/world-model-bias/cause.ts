/** The world model causes the ranking. */
import type { CauseEntry } from '../../cause.ts';

export const worldModelBias: CauseEntry = {
  id: 'world-model-bias',
  group: 'F',
  place: 1100,
  meaning: 'The world model causes the ranking.',
  toldApart: 'The difference in trend between rungs of the ablation ladder, paired by seed.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'The trend disappears without the world model.',
  remedy: "Train the world model on all agents' rows equally.",
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '世界模型造成了排名。',
    remedy: '用所有智能体的行同等地训练世界模型。',
    toldApart: '消融阶梯各级之间趋势的差异，按种子配对。',
    proof: '去掉世界模型后趋势消失。',
  },
};
