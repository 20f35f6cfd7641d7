/** An agent's observation is rotated to its own point of view and something beside it is not. */
import type { CauseEntry } from '../../cause.ts';

export const perspectiveMismatch: CauseEntry = {
  id: 'perspective-mismatch',
  group: 'F',
  place: 1090,
  meaning: "An agent's observation is rotated to its own point of view and something beside it is not.",
  toldApart: "Agreement after rotating by the agent's index.",
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'Rotating the other column by the index makes both agree.',
  remedy: "Rotate others' actions, masks and targets with the same function as the observation.",
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '智能体的观测旋转到了自己的视角，而与之相伴的某一列没有。',
    remedy: '用与观测相同的函数旋转其他智能体的动作、掩码与目标。',
    toldApart: '按智能体的编号轮转后一致。',
    proof: '把另一列按编号轮转后两者一致。',
  },
};
