/** Targets bootstrap from the network that learns, past the target network. */
import type { CauseEntry } from '../../cause.ts';

export const targetNetworkUnused: CauseEntry = {
  id: 'target-network-unused',
  group: 'C',
  place: 246,
  decidedBy: ['targets.next_values', 'targets.next_online', 'copies.moved'],
  meaning:
    'Targets move with every step, although there is a target network to hold them: they bootstrap from the network that learns, or the copy is taken anew in every step.',
  toldApart:
    'What the online network gives for the next states reproduces the targets, and what the target network gives does not; or the target network is where the online one is after every step.',
  symptoms: ['values run away', 'the loss does not settle'],
  pictures: ['changes'],
  proof: 'Targets as used beside those from the target network and from the online one.',
  remedy:
    'Ask the target network for the value of the next state, and copy it rarely, or with a small weight: tau of the online network and 1 - tau of the copy.',
  pytorch:
    'with torch.no_grad():\n    bootstrap = target_net(next_obs).max(1).values                      # not net(next_obs)\nfor target, own in zip(target_net.parameters(), net.parameters()):\n    target.data.lerp_(own.data, tau)                                    # tau is small',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['价值失控', '损失不收敛'],
    meaning: '尽管有目标网络，目标仍随每一步移动：它们由正在学习的网络自举，或每一步都重新复制。',
    remedy: '向目标网络询问下一状态的价值，并很少复制它，或以很小的权重混合：tau 份在线网络与 1 - tau 份副本。',
    toldApart:
      '由在线网络对下一状态的输出能得出目标，由目标网络则不能；或者每一步之后目标网络都与在线网络处于同一位置。',
    proof: '所用的目标，与由目标网络、由在线网络得出的并列。',
  },
};
