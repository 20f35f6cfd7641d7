/** Credit flows across an episode end. */
import type { CauseEntry } from '../../cause.ts';

export const returnCrossesEpisodes: CauseEntry = {
  id: 'return-crosses-episodes',
  group: 'B',
  place: 140,
  family: 'pairing',
  decidedBy: ['samples.env', 'samples.next_value'],
  meaning: 'Credit flows across an episode end.',
  toldApart: 'Recomputed advantages agree when ends are ignored.',
  symptoms: ['values do not settle', 'the last actions of an episode are praised or blamed at random'],
  proof:
    'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.',
  remedy: 'Multiply both the bootstrap and the trace by 1 - done, and compute per episode or per environment.',
  pytorch: `mask = 1 - terminated[t]                        # a truncation is not a termination
delta = reward[t] + gamma * next_value[t] * mask - value[t]
last = delta + gamma * lam * (1 - ended[t]) * last`,
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['价值不收敛', '一局最后的动作被随机地褒或贬'],
    meaning: '优势越过回合的结束而传递。',
    remedy: '自举与迹都乘以 1 - done，并按回合或按环境分别计算。',
    toldApart: '忽略结束标记时，重算的优势一致。',
    proof: '由奖励、价值与结束标记重算损失所用的优势，只有经所说的变换后才一致。',
  },
};
