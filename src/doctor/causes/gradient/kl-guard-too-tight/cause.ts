/** The epoch loop stops at once, every time. */
import type { CauseEntry } from '../../cause.ts';

export const klGuardTooTight: CauseEntry = {
  id: 'kl-guard-too-tight',
  group: 'C',
  place: 400,
  follows: ['ratio'],
  decidedBy: ['steps.stopped'],
  meaning: 'The epoch loop stops at once, every time.',
  toldApart: 'Stopped within the first minibatches at a KL below the band, in all updates.',
  symptoms: ['one or two optimiser steps per update', 'very slow learning'],
  pictures: ['kl'],
  proof: 'Every update stopped within its first steps while k2 was below 0.01.',
  remedy: 'Raise target_kl (0.01 to 0.03), and compare it with k3 rather than with k1.',
  pytorch: `target_kl = 0.02
if ((ratio - 1) - log_ratio).mean() > 1.5 * target_kl: break`,
  trueline: 'ppo: { targetKl: 0.02 }',
  chinese: {
    symptoms: ['每次更新只有一两个优化步', '学得非常慢'],
    meaning: '轮次循环每次都立即停止。',
    remedy: '提高 target_kl（0.01 至 0.03），并与 k3 而不是 k1 比较。',
    toldApart: '所有更新都在最初几个小批次内停止，且 KL 低于常见范围。',
    proof: '每次更新都在最初几步内停止，而 k2 低于 0.01。',
  },
};
