/** One credit pass runs over the rows of several agents as they lie. */
import type { CauseEntry } from '../../cause.ts';

export const creditCrossesAgents: CauseEntry = {
  id: 'credit-crosses-agents',
  group: 'B',
  place: 204,
  follows: ['pairing'],
  explains: ['return-inconsistent', 'credit-formula-differs', 'advantage-agent-swapped'],
  decidedBy: ['samples.agent'],
  meaning:
    "One credit pass runs over the rows of several agents as they lie, so that an agent bootstraps from another's value.",
  toldApart: 'Advantages agree when the rows of a rollout are one chain in storage order.',
  symptoms: ["an agent's advantages follow the others' rewards", 'explained variance stays low for all agents'],
  proof: 'The declared formula holds between rows that lie side by side and belong to different agents.',
  remedy: 'Compute advantages per agent and environment: reshape to (steps, agents) first, or loop over the agents.',
  pytorch: 'rewards = rewards.view(steps, agents)          # one chain per column, not one for all',
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['一个智能体的优势跟着别人的奖励走', '所有智能体的解释方差都一直很低'],
    meaning: '一次信用计算跨越了多个智能体的数据行，使一个智能体用另一个智能体的价值自举。',
    remedy: '按智能体和环境分别计算优势：先变形为（步数，智能体数），或逐个智能体循环。',
    toldApart: '把一次采集的行按存放次序当作一条链时，优势一致。',
    proof: '所声明的公式在相邻存放、却属于不同智能体的行之间成立。',
  },
};
