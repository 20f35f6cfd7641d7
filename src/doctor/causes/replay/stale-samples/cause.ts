/** The update uses rows of an earlier iteration's policy. */
import type { CauseEntry } from '../../cause.ts';

export const staleSamples: CauseEntry = {
  id: 'stale-samples',
  group: 'A',
  place: 20,
  family: 'ratio',
  explains: [
    'normaliser-drifts',
    'old-logp-wrong',
    'stochastic-forward',
    'return-inconsistent',
    'critic-context-misaligned',
    'advantage-time-shifted',
    'advantage-shuffled',
    'old-logp-recomputed',
  ],
  decidedBy: ['replays.source_iteration'],
  meaning: "The update uses rows of an earlier iteration's policy.",
  toldApart:
    "old_logp in the update matches rows of an earlier iteration; rows repeat across iterations; or rows are new and acting's deviations are an earlier iteration's.",
  symptoms: [
    'ratios far from 1 before the first step of later iterations',
    'clip fraction that grows with the learning rate',
  ],
  proof: 'The rows of the update are found, number by number, among the samples of an earlier iteration.',
  remedy:
    'Empty the buffer after every update, and check that every row carries the current iteration. Where acting has a copy of the policy, give it the weights after every update.',
  pytorch: `buffer.clear()                                # after every update
assert (batch['iteration'] == iteration).all()`,
  trueline: 'guard: strict',
  chinese: {
    symptoms: ['后面各次迭代在第一步之前比率远离 1', '裁剪比例随学习率增大'],
    meaning: '更新使用了更早迭代的策略所产生的行。',
    remedy: '每次更新后清空缓冲区，并检查每一行都属于当前迭代。若行动使用策略的副本，每次更新后把权重交给它。',
    toldApart:
      '更新中的 old_logp 与更早迭代的行吻合；行在各次迭代间重复出现；或者行是新的，而行动时的标准差是更早一次迭代的。',
    proof: '更新所用的行逐个数字地出现在更早一次迭代的样本里。',
  },
};
