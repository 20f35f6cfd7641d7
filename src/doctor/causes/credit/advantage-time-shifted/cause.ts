/** Each row uses the advantage of a row some steps before or after. */
import type { CauseEntry } from '../../cause.ts';

export const advantageTimeShifted: CauseEntry = {
  id: 'advantage-time-shifted',
  group: 'B',
  place: 150,
  family: 'pairing',
  decidedBy: ['samples.env'],
  meaning: 'Each row uses the advantage of a row some steps before or after.',
  toldApart: 'Agreement at one lag within (episode, agent), or within the (env, agent) stream.',
  symptoms: ['slow or no learning where credit changes quickly from step to step'],
  proof:
    'The advantages that the loss used are recomputed from rewards, values and ends, and agree only after the transform named.',
  remedy: 'Align advantages and actions on the same t, and keep (episode, t, agent) in the buffer to check it.',
  pytorch: 'batch.sort(key=lambda row: (row.episode, row.t, row.agent))   # then compute advantages in place',
  trueline: 'assignCredit(batch, gamma, lambda)   // rows sorted by (episode, t, agent)',
  chinese: {
    symptoms: ['在功劳逐步变化很快之处，学得慢或学不到'],
    meaning: '每一行使用了前几步或后几步那一行的优势值。',
    remedy: '让优势值与动作对齐在同一个 t 上，并在缓冲区保留 (episode, t, agent) 以便核对。',
    toldApart: '在（局，智能体）内，或在（环境，智能体）数据流内，以某一平移一致。',
    proof: '由奖励、价值与结束标记重算损失所用的优势，只有经所说的变换后才一致。',
  },
};
