/** A time limit bootstraps 0. */
import type { CauseEntry } from '../../cause.ts';

export const truncationTreatedAsTermination: CauseEntry = {
  id: 'truncation-treated-as-termination',
  group: 'B',
  place: 130,
  family: 'pairing',
  decidedBy: ['samples.truncated', 'samples.next_value'],
  meaning: 'A time limit bootstraps 0.',
  toldApart: 'Agreement when truncation is read as termination.',
  symptoms: ['values fall towards the time limit', 'agents hurry or give up near the end'],
  proof:
    'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.',
  remedy: 'Bootstrap the value of the state that followed at a truncation; only a termination is worth 0.',
  pytorch: `mask = 1 - terminated[t]                        # a truncation is not a termination
delta = reward[t] + gamma * next_value[t] * mask - value[t]
last = delta + gamma * lam * (1 - ended[t]) * last`,
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['越接近时限价值越低', '临近结束时智能体匆忙或放弃'],
    meaning: '到达时限时以 0 自举。',
    remedy: '截断时以随后状态的价值自举；只有终止才为 0。',
    toldApart: '把截断当作终止时一致。',
    proof: '由奖励、价值与结束标记重算损失所用的优势，只有经所说的变换后才一致。',
  },
};
