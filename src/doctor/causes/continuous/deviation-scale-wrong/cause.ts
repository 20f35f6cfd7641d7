/** The deviation stands where its logarithm or its square should, or the reverse, in one place. */
import type { CauseEntry } from '../../cause.ts';

export const deviationScaleWrong: CauseEntry = {
  id: 'deviation-scale-wrong',
  group: 'A',
  place: 64,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.action_values', 'samples.env_action', 'samples.mean', 'samples.log_std', 'replays.mean'],
  meaning:
    'The deviation is taken for its logarithm, its square or its root, or made of it by another function, in one of drawing, scoring when acting, and scoring in the update.',
  toldApart:
    'The pass is given exactly with the other deviation; of draws, squared distances from the mean average what the other deviation says.',
  symptoms: [
    'ratios are off 1 before the first step by more the farther an action is from its mean',
    'the entropy is off by a constant',
  ],
  proof:
    'Recomputed with the deviation as found, the odd pass is given to rounding; or squared distances average 1 only with it.',
  remedy: 'Keep log_std, and make the deviation of it in one place: log_std.exp().',
  pytorch:
    'std = log_std.exp()                         # Normal takes the deviation, not its logarithm or its square\ndist = Normal(mean, std)',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['第一步之前比率偏离 1，动作离均值越远偏得越多', '熵差一个常数'],
    meaning: '标准差在采样、行动时打分或更新时打分之一处被当成了它的对数、平方或平方根，或由另一个函数得出。',
    remedy: '保存 log_std，并只在一处由它得到标准差：log_std.exp()。',
    toldApart: '换用另一个标准差即可精确得出这一遍；就抽样而言，与均值的平方距离平均起来正是另一个标准差所说的。',
    proof: '按所发现的标准差重算后，异常的那一遍与之相符，误差仅为舍入；或者只有用它时平方距离的均值才为 1。',
  },
};
