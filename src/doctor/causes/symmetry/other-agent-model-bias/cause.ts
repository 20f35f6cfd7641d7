/** The models of other agents cause the ranking. */
import type { CauseEntry } from '../../cause.ts';

export const otherAgentModelBias: CauseEntry = {
  id: 'other-agent-model-bias',
  group: 'F',
  place: 1110,
  meaning: 'The models of other agents cause the ranking.',
  toldApart: 'As world-model-bias.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'The trend disappears without those models.',
  remedy: 'Give every agent the same data about every other.',
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '对其他智能体的模型造成了排名。',
    remedy: '让每个智能体得到关于其他智能体的同样数据。',
    toldApart: '同 world-model-bias。',
    proof: '去掉这些模型后趋势消失。',
  },
};
