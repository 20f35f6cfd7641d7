/** The choice of subgoals causes the ranking. */
import type { CauseEntry } from '../../cause.ts';

export const subgoalBias: CauseEntry = {
  id: 'subgoal-bias',
  group: 'F',
  place: 1120,
  meaning: 'The choice of subgoals causes the ranking.',
  toldApart: 'As world-model-bias.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'The trend disappears without subgoals.',
  remedy: 'Use one subgoal rule for all agents, seen from their own point of view.',
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '子目标的选择造成了排名。',
    remedy: '所有智能体使用同一条子目标规则，并从各自的视角来看。',
    toldApart: '同 world-model-bias。',
    proof: '去掉子目标后趋势消失。',
  },
};
