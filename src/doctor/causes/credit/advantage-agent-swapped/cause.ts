/** Each agent uses another agent's advantage. */
import type { CauseEntry } from '../../cause.ts';

export const advantageAgentSwapped: CauseEntry = {
  id: 'advantage-agent-swapped',
  group: 'B',
  place: 160,
  family: 'pairing',
  decidedBy: ['samples.reward', 'samples.value'],
  meaning: "Each agent uses another agent's advantage.",
  toldApart: 'Agreement at the same (episode, t) with another agent.',
  symptoms: ['one agent learns what is good for the other', 'agents that should be alike drift apart'],
  proof:
    'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.',
  remedy: 'Index advantages by agent as well as by step, and check (episode, t, agent) before the update.',
  pytorch: 'advantage = advantages[:, agent]               # (T, agents), the same axis as log_probs',
  trueline: 'a Batch is re-ordered and sliced only whole; no column has an order of its own',
  chinese: {
    symptoms: ['一个智能体学的是对另一个有利的行为', '本应相同的智能体渐行渐远'],
    meaning: '每个智能体使用了另一个智能体的优势值。',
    remedy: '优势值既按步也按智能体索引，更新前核对 (episode, t, agent)。',
    toldApart: '在同一（局，t）与另一智能体一致。',
    proof: '由奖励、价值与结束标记重算损失所用的优势，只有经所说的变换后才一致。',
  },
};
