/** Everything is wired, and the step is invisible. */
import type { CauseEntry } from '../../cause.ts';

export const learningRateTooSmall: CauseEntry = {
  id: 'learning-rate-too-small',
  group: 'C',
  place: 410,
  follows: ['ratio'],
  explains: ['policy-head-flat', 'entropy-bonus-dominates'],
  decidedBy: ['steps.delta_logits', 'tensors.delta'],
  meaning: 'Everything is wired, and the step is invisible.',
  toldApart: 'Parameters change, and no probability moves by 1e-4 in the whole run.',
  symptoms: ['KL orders of magnitude below the band', 'clip fraction 0', 'entropy constant to many digits'],
  pictures: ['kl', 'changes'],
  proof: "The largest change of any recorded action's probability, over the whole run, is below 1e-4.",
  remedy: 'Raise the learning rate (3e-4 to 1e-3 for Adam), and look at the schedule and at epsilon.',
  pytorch: 'optimizer = Adam(actor.parameters(), lr=3e-4, eps=1e-5)',
  trueline: 'ppo: { learningRate: 1e-3 }',
  chinese: {
    symptoms: ['KL 比常见范围低几个数量级', '裁剪比例为 0', '熵在许多位数字上不变'],
    meaning: '一切都已接好，但每一步小得看不见。',
    remedy: '提高学习率（Adam 用 3e-4 至 1e-3），并检查学习率计划与 epsilon。',
    toldApart: '参数在变，而整个训练中没有概率移动 1e-4。',
    proof: '整个训练中，任何所记动作的概率最大变化都小于 1e-4。',
  },
};
