/** An agent's subgoal history is missing or zero. */
import type { CauseEntry } from '../../cause.ts';

export const subgoalLogIncomplete: CauseEntry = {
  id: 'subgoal-log-incomplete',
  group: 'F',
  place: 1070,
  meaning: "An agent's subgoal history is missing or zero.",
  toldApart: 'subgoal.length against subgoal.expected.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'The recorded history is shorter than the episode.',
  remedy: 'Append a subgoal in every step for every agent, also where none was chosen.',
  pytorch: '',
  trueline: '',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '某个智能体的子目标记录缺失或为零。',
    remedy: '每一步都为每个智能体追加一个子目标，未选择时也要追加。',
    toldApart: 'subgoal.length 对照 subgoal.expected。',
    proof: '所记录的历史短于该局。',
  },
};
