/** Entropy is at 0 early, and one action is always chosen. */
import type { CauseEntry } from '../../cause.ts';

export const policyCollapsed: CauseEntry = {
  id: 'policy-collapsed',
  group: 'D',
  place: 350,
  follows: ['ratio'],
  explains: [
    'learning-rate-too-small',
    'learning-rate-too-large',
    'policy-detached',
    'optimizer-unbound',
    'advantage-sign-flipped',
    'metric-misreported',
  ],
  decidedBy: ['samples.logits', 'replays.entropy'],
  meaning: 'Entropy is at 0 early, and one action is always chosen.',
  toldApart: 'Entropy and action counts before anything could be learnt.',
  symptoms: ['the same action always', 'KL and gradients near 0', 'returns do not change'],
  pictures: ['entropy'],
  proof: 'In the first iteration the choices are already certain.',
  remedy: 'Initialise the head small (gain 0.01), and keep an entropy bonus until returns rise.',
  pytorch: 'nn.init.orthogonal_(actor.head.weight, gain=0.01); nn.init.zeros_(actor.head.bias)',
  trueline: 'network: { headGain: 0.01 }',
  chinese: {
    symptoms: ['总是同一个动作', 'KL 与梯度接近 0', '回报不变'],
    meaning: '熵过早为 0，总是选择同一个动作。',
    remedy: '最后一层用小的初值（gain 0.01），并在回报上升之前保留熵奖励。',
    toldApart: '在还不可能学到任何东西之前的熵与动作计数。',
    proof: '第一次迭代时选择就已确定。',
  },
};
