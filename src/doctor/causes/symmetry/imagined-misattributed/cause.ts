/** Imagined episodes are filed under the wrong agent or environment. */
import type { CauseEntry } from '../../cause.ts';

export const imaginedMisattributed: CauseEntry = {
  id: 'imagined-misattributed',
  group: 'F',
  place: 1080,
  meaning: 'Imagined episodes are filed under the wrong agent or environment.',
  toldApart: 'Imagined against real statistics per agent.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: "An agent's imagined rows look like another agent's real ones.",
  remedy: 'Carry agent and environment along with every imagined row.',
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '想象的回合记到了错误的智能体或环境名下。',
    remedy: '让每一条想象的行都带着智能体与环境。',
    toldApart: '各智能体想象与真实数据的统计对照。',
    proof: '某智能体的想象数据看起来像另一智能体的真实数据。',
  },
};
