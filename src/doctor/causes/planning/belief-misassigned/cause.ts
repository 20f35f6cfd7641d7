/** A search draws a partner's goal from what is believed about another agent, or by another agent. */
import type { CauseEntry } from '../../cause.ts';

export const beliefMisassigned: CauseEntry = {
  id: 'belief-misassigned',
  group: 'A',
  place: 54,
  explains: ['belief-not-reset'],
  decidedBy: ['samples.belief', 'samples.likelihood', 'samples.prior'],
  meaning: "A search draws a partner's goal from what is believed about another agent, or by another agent.",
  toldApart:
    "The beliefs do not follow the partner's moves, and follow exactly those of another agent, or the chances by which another agent judges them.",
  symptoms: ['an agent answers to one partner as if it were another', 'returns ordered by agent number across seeds'],
  proof: "Beliefs as planned with beside what the partner's own moves give, and what the other agent's give.",
  remedy:
    'Index beliefs by who believes and about whom, in the same order where they are updated and where they are read.',
  pytorch:
    'belief[me][other] *= likelihood[other]       # update\ngoal = sample(belief[me][other])             # search: the same two indices',
  trueline: 'beliefs.at(world, observer, other)  // stages.planner.belief',
  chinese: {
    symptoms: ['智能体把一个同伴当成另一个来应对', '在各个种子上，回报都按智能体编号排序'],
    meaning: '搜索从关于另一智能体的信念、或另一智能体的信念中抽取伙伴的目标。',
    remedy: '信念按“谁相信、关于谁”索引，更新与读取时使用同样的顺序。',
    toldApart: '信念不随对方的动作而变，却恰好随另一智能体的动作，或随另一智能体判断它们所用的概率而变。',
    proof: '规划所用的信念，与由对方自己的动作得出的、由另一智能体的动作得出的并列。',
  },
};
