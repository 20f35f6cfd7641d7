/** The density of a squashed action lacks tanh's derivative in one pass, or has it in another way than the other pass. */
import type { CauseEntry } from '../../cause.ts';

export const squashCorrectionWrong: CauseEntry = {
  id: 'squash-correction-wrong',
  group: 'A',
  place: 61,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.action_values', 'samples.env_action', 'samples.mean', 'samples.log_std', 'replays.mean'],
  meaning:
    'One pass corrects the density of a squashed action for tanh and the other does not, or otherwise: twice, with the other sign, or without the factor after it.',
  toldApart:
    'Each pass is given exactly by mean, deviation and action, with another number of corrections. The same on both sides cancels in the ratio and is healthy.',
  symptoms: [
    'the ratio is off 1 before any step, most where actions are near their bounds',
    'KL of several nats in the first minibatch',
    'clip fraction near 1',
  ],
  proof: 'Recomputed with the correction as found, the odd pass is given to rounding.',
  remedy:
    'Compute the log-probability of a squashed action in one function, and call it when acting and in the update.',
  pytorch:
    'def logp(raw, mean, log_std):                # the one place\n    parts = Normal(mean, log_std.exp()).log_prob(raw)\n    parts = parts - torch.log(scale * (1 - raw.tanh() ** 2) + 1e-6)\n    return parts.sum(-1)',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['任何一步之前比率就偏离 1，动作靠近边界处最甚', '第一个小批的 KL 就有数个 nat', '裁剪比例接近 1'],
    meaning: '压缩动作的密度在一次前向中按 tanh 修正，在另一次中没有修正或修正方式不同。',
    remedy: '把压缩动作的对数概率写在一个函数里，行动和更新都调用它。',
    toldApart: '每一遍都可由均值、标准差与动作精确得出，只是修正的次数不同。两边相同时在比率中抵消，属正常。',
    proof: '按所发现的修正重算后，异常的那一遍与之相符，误差仅为舍入。',
  },
};
