/** The update uses rows of an earlier iteration's policy. */
import type { CauseEntry } from '../../cause.ts';

export const staleSamples: CauseEntry = {
  id: 'stale-samples',
  group: 'A',
  place: 20,
  family: 'ratio',
  explains: [
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
  toldApart: 'old_logp in the update matches rows of an earlier iteration; rows repeat across iterations.',
  symptoms: [
    'ratios far from 1 before the first step of later iterations',
    'clip fraction that grows with the learning rate',
  ],
  proof: 'The rows of the update are found, number by number, among the samples of an earlier iteration.',
  remedy: 'Empty the buffer after every update, and check that every row carries the current iteration.',
  pytorch: `buffer.clear()                                # after every update
assert (batch['iteration'] == iteration).all()`,
  trueline: 'guard: strict',
  chinese: {
    symptoms: ['后面各次迭代在第一步之前比率远离 1', '裁剪比例随学习率增大'],
    meaning: '更新使用了更早迭代的策略所产生的行。',
    remedy: '每次更新后清空缓冲区，并检查每一行都属于当前迭代。',
    toldApart: '更新中的 old_logp 与更早迭代的行吻合；行在各次迭代间重复出现。',
    proof: '更新所用的行逐个数字地出现在更早一次迭代的样本里。',
  },
};
