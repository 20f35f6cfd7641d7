/** Agents are not updated equally often. */
import type { CauseEntry } from '../../cause.ts';

export const updateCountDiffers: CauseEntry = {
  id: 'update-count-differs',
  group: 'F',
  place: 1040,
  meaning: 'Agents are not updated equally often.',
  toldApart: 'Counters.',
  symptoms: ['returns ordered by agent number across seeds'],
  proof: 'updates.policy differs between agents.',
  remedy: 'Update every agent once per iteration, and count.',
  pytorch: 'for agent in agents: agent.update(); counts[agent] += 1',
  trueline: 'counters: updates.policy',
  chinese: {
    symptoms: ['在各个种子上，回报都按智能体编号排序'],
    meaning: '各智能体更新的次数不相等。',
    remedy: '每次迭代对每个智能体更新一次，并计数。',
    toldApart: '计数器。',
    proof: 'updates.policy 在智能体之间不同。',
  },
};
