/** A time limit bootstraps from the first state of the next episode. */
import type { CauseEntry } from '../../cause.ts';

export const finalObservationLost: CauseEntry = {
  id: 'final-observation-lost',
  group: 'B',
  place: 126,
  explains: ['return-inconsistent', 'credit-formula-differs', 'return-crosses-episodes', 'done-time-shifted'],
  decidedBy: ['samples.next_value', 'samples.advantage', 'samples.truncated'],
  meaning:
    'A time limit bootstraps from the first state of the next episode, because the environment reset itself and the last observation was not kept.',
  toldApart:
    'What the credit of a cut-off row bootstraps from equals the value of the row after it, which belongs to the next episode.',
  symptoms: ['values near the time limit are those of a fresh start', 'longer episodes are not worth more'],
  proof: 'Bootstraps of cut-off rows beside the values of the rows after them.',
  remedy:
    "Take the value of info['final_obs'] at a truncation (Gymnasium's same-step autoreset), or of the observation that step returned (next-step autoreset), never of the one after the reset.",
  pytorch:
    "next_value = critic(obs_after)\nfor i in np.flatnonzero(truncated):\n    next_value[i] = critic(infos['final_obs'][i])     # not the first observation of the next episode",
  trueline: 'const next = critic(batch.finalObservation)   // kept by the collector',
  chinese: {
    symptoms: ['时限附近的价值等于新开局的价值', '更长的局并不更值'],
    meaning: '时间上限用下一回合首个状态自举，因为环境自行重置而没有保留最后的观测。',
    remedy:
      "在截断处取 info['final_obs'] 的价值（Gymnasium 的同步自动重置），或取该步返回的观测的价值（下一步自动重置），绝不取重置之后的观测。",
    toldApart: '被截断的行的信用所自举的，等于其后一行的价值，而那一行属于下一局。',
    proof: '被截断的行的自举值，与其后各行的价值并列。',
  },
};
