/** The target network, or part of it, never follows. */
import type { CauseEntry } from '../../cause.ts';

export const targetNetworkFrozen: CauseEntry = {
  id: 'target-network-frozen',
  group: 'C',
  place: 244,
  decidedBy: ['copies.hash', 'copies.gap'],
  meaning: 'The target network, or part of it, is never updated from the network that it is a copy of.',
  toldApart:
    'Hashes of its tensors never change although an update was due, or although those of the other tensors do.',
  symptoms: ['values stop at the size of the first targets', 'the loss falls and returns do not rise'],
  pictures: ['changes'],
  proof: 'How often each tensor changed, and its distance from the original.',
  remedy: 'Copy the whole state_dict on schedule, or mix every parameter with tau after each step.',
  pytorch:
    'for target, own in zip(target_net.parameters(), net.parameters()):     # all of them, buffers too\n    target.data.lerp_(own.data, tau)',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['价值停在最初目标的大小', '损失下降，回报不上升'],
    meaning: '目标网络或其一部分从未从它所复制的网络更新。',
    remedy: '按计划复制整个 state_dict，或每步之后用 tau 混合每个参数。',
    toldApart: '本该更新，或其他张量都在变，它的张量的哈希却从不改变。',
    proof: '每个张量变化的次数，以及与初始的距离。',
  },
};
