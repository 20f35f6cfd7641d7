/** The search values states for another agent than the one that decides. */
import type { CauseEntry } from '../../cause.ts';

export const searchValuesMisassigned: CauseEntry = {
  id: 'search-values-misassigned',
  group: 'A',
  place: 56,
  decidedBy: ['samples.search_root', 'samples.value'],
  meaning: 'The search values states for another agent than the one that decides.',
  toldApart:
    "The search's value of the state that is decided in is not the row's own, and is exactly that of another agent in the same step.",
  symptoms: ["an agent's moves serve another agent's return", 'planning does not beat its own networks'],
  proof: 'The value of the decided state in the search beside the values of this agent and of the other.',
  remedy: 'Take observation, critic and reward of the agent that decides, by one index, everywhere in the tree.',
  pytorch:
    'own = critics[me]\nvalue = own(obs[me])                           # one index for both\nq = reward[me] + gamma * value',
  trueline: 'stages.valuedBy(agent)  // stages.planner.valuedBy',
  chinese: {
    symptoms: ['一个智能体的走法在为另一个的回报服务', '规划胜不过它自己的网络'],
    meaning: '搜索为另一个智能体、而非做决定者估值。',
    remedy: '在树中处处以同一个下标取做决定者的观测、评论家和奖励。',
    toldApart: '搜索给所决策状态的价值不是该行自己的，而恰是同一步里另一智能体的。',
    proof: '搜索中所决策状态的价值，与本智能体和另一智能体的价值并列。',
  },
};
