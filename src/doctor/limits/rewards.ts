/** Limits of rewards: when a stored one is what was paid, and what programs make of it on purpose. */
import { type Limit, limit } from './limit.ts';

export const rewards = {
  sameReward: limit(
    'tolerance',
    1e-5,
    'difference of two rewards that are the same',
    'Rewards are stored as they were paid, in single precision.',
  ),
  sameRewardRelative: limit(
    'tolerance',
    0.0001,
    'the same as a share of the reward',
    'Programs that add up or average rewards round once more.',
  ),
  rewardKinds: limit(
    'test',
    128,
    'different rewards that are few',
    'A game pays for so many events and their sums; a reward that is measured has as many values as rows.',
  ),
  rewardScale: limit(
    'definition',
    0.9,
    'correlation of stored with paid rewards from which they are a form of them',
    'A scale or a clip keeps it above; rewards of other rows do not.',
  ),
  rewardDrift: limit(
    'tolerance',
    0.2,
    'logarithm by which what rewards are divided by may change from one row of an environment to the next',
    'A running deviation over n rows changes by about 1 / n; a row three deviations off changes one over twenty rows by a fifth.',
  ),
  clearlyWorse: limit(
    'definition',
    2,
    "times the change of a figure that has only begun to run, which other rows' payments must exceed",
    'The first rows move it by any factor, so that the change alone proves nothing; a payment of another row changes it by as much as payments differ.',
  ),
  foldedDrift: limit(
    'tolerance',
    0.01,
    'share of a bootstrap up to which the scale of the rewards around it may be unknown',
    'Any other reward is so near to the one that was paid once in a hundred times at most.',
  ),
} as const satisfies Record<string, Limit>;
