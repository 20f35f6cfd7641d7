/** A deviation left its range: it is no number, 0 or without bound. */
import type { CauseEntry } from '../../cause.ts';

export const deviationInvalid: CauseEntry = {
  id: 'deviation-invalid',
  group: 'A',
  place: 22,
  explains: [
    'non-finite',
    'policy-collapsed',
    'learning-rate-too-large',
    'parameters-overwritten',
    'old-logp-wrong',
    'inputs-differ',
  ],
  decidedBy: ['samples.log_std', 'replays.log_std', 'samples.mean'],
  meaning: 'A deviation left its range: it is no number, below 0, or beyond what any program clamps it to.',
  toldApart:
    'The logarithm of the deviation is not finite, or larger than any clamp, while the means of the same rows are numbers.',
  symptoms: ['log-probabilities are NaN or huge', 'every later number is NaN'],
  pictures: ['entropy', 'changes'],
  proof: 'The first row whose deviation is out of its range, with the range before it.',
  remedy: 'Learn the logarithm of the deviation and clamp it, for example to between -5 and 2.',
  pytorch:
    'log_std = log_std.clamp(-5, 2)\nstd = log_std.exp()                         # never a free parameter that may go below 0',
  trueline: '// discrete actions only',
  chinese: {
    symptoms: ['对数概率为 NaN 或极大', '之后的数全是 NaN'],
    meaning: '标准差离开了有效范围：不是数、小于 0，或超出任何程序的截断范围。',
    remedy: '学习标准差的对数并加以截断，例如截断到 -5 与 2 之间。',
    toldApart: '标准差的对数不是有限值，或大于任何截断界限，而同一行的均值是正常的数。',
    proof: '标准差首次超出范围的那一行，以及此前的范围。',
  },
};
