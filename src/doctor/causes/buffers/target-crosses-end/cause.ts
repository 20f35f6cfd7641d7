/** A target bootstraps, or takes rewards, from beyond the end of its episode. */
import type { CauseEntry } from '../../cause.ts';

export const targetCrossesEnd: CauseEntry = {
  id: 'target-crosses-end',
  group: 'B',
  place: 142,
  decidedBy: ['targets.target', 'targets.rewards', 'targets.terminated', 'targets.bootstrap', 'targets.n'],
  meaning: 'A target bootstraps, or takes rewards, from beyond the end of its episode.',
  toldApart:
    'Targets whose window holds an end are given exactly by ignoring it, by rewards from beyond it, or by looking at the first step alone; all others by the usual formula.',
  symptoms: ['values of last states are not those of nothing', 'values grow without bound where episodes are short'],
  proof: 'Targets as used beside what the stored window gives, with the end and without.',
  remedy:
    'Stop the sum of rewards at the first end of the window, and multiply the bootstrap with 0 where it was a termination.',
  pytorch:
    'alive = 1.0\nfor k in range(n):\n    target += alive * gamma**k * reward[i + k]\n    alive *= 1 - terminated[i + k]\ntarget += alive * gamma**n * bootstrap',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['最后状态的价值不是“之后什么都没有”的价值', '局很短时价值无限增大'],
    meaning: '目标从回合结束之后自举或取得奖励。',
    remedy: '奖励之和在窗口中第一个结束处停止，并在终止处把自举乘以 0。',
    toldApart: '窗口内有结束的目标，忽略结束、采用结束之后的奖励或只看第一步即可精确得出；其余的由通常的公式得出。',
    proof: '所用的目标，与所存窗口在计入结束、不计结束时给出的并列。',
  },
};
