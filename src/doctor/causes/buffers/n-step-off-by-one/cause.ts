/** A target of n steps has another number of rewards, or another discount on its bootstrap. */
import type { CauseEntry } from '../../cause.ts';

export const nStepOffByOne: CauseEntry = {
  id: 'n-step-off-by-one',
  group: 'B',
  place: 144,
  decidedBy: ['targets.target', 'targets.rewards', 'targets.terminated', 'targets.bootstrap', 'targets.n'],
  meaning:
    'A target of n steps has one reward too many or too few, or its bootstrap is discounted for another number of steps.',
  toldApart: 'Every target is given exactly with another count, also those without an end.',
  symptoms: ['values are too large or too small by a constant factor', 'a longer n makes learning worse'],
  proof: 'Targets as used beside those of n steps.',
  remedy:
    "Sum n rewards from the row's own on, and discount the state that follows the last of them by gamma to the power of n.",
  pytorch:
    'target = sum(gamma**k * reward[i + k] for k in range(n))\ntarget += gamma**n * value(next_obs[i + n - 1])     # the state after the last reward',
  trueline: '// rollouts only: there is no replay buffer',
  chinese: {
    symptoms: ['价值差一个常数倍', 'n 越大学得越差'],
    meaning: 'n 步目标多或少一个奖励，或自举按另一个步数折扣。',
    remedy: '从该行起对 n 个奖励求和，并把最后一个奖励之后的状态按 gamma 的 n 次方折扣。',
    toldApart: '换一个步数就能精确得出每个目标，没有结束的也一样。',
    proof: '所用的目标，与 n 步的目标并列。',
  },
};
