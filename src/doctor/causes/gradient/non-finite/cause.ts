/** NaN or infinity appears. */
import type { CauseEntry } from '../../cause.ts';

export const nonFinite: CauseEntry = {
  id: 'non-finite',
  group: 'C',
  place: 430,
  explains: [
    'kl-estimator-cancels',
    'advantage-sign-flipped',
    'policy-detached',
    'loss-summed',
    'old-logp-wrong',
    'learning-rate-too-large',
    'learning-rate-too-small',
    'metric-misreported',
    'policy-head-flat',
    'advantage-degenerate',
    'return-inconsistent',
  ],
  decidedBy: ['replays.new_logp'],
  meaning: 'NaN or infinity appears.',
  toldApart: 'Where it first appears in the flow.',
  symptoms: ['losses become NaN and stay so', 'actions are always the first one'],
  pictures: ['kl'],
  proof: 'The first column, in the order of the flow, that holds a number that is not finite.',
  remedy:
    'Look at the first place: a log of 0, a division by a spread of 0, an exploding ratio or a reward that is not a number.',
  pytorch: `torch.autograd.set_detect_anomaly(True)
adv = (adv - adv.mean()) / (adv.std() + 1e-8)`,
  trueline: 'guard: strict',
  chinese: {
    symptoms: ['损失变成 NaN 并一直如此', '动作总是第一个'],
    meaning: '出现了 NaN 或无穷大。',
    remedy: '看最先出现之处：0 的对数、除以为 0 的标准差、爆炸的比率，或不是数字的奖励。',
    toldApart: '它在流程中首次出现在哪里。',
    proof: '按流程次序，第一个含有非有限数的列。',
  },
};
