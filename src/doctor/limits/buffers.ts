/** Limits of replay buffers: when a target is the recomputed one, and when a copy is frozen. */
import { type Limit, limit } from './limit.ts';

export const buffers = {
  targetExact: limit(
    'tolerance',
    1e-4,
    'difference of a target from the recomputed one, as a share of its size and its bootstrap',
    'A few sums and products in single precision; another formula is off by a reward or a bootstrap.',
  ),
  targetShare: limit(
    'tolerance',
    0.002,
    'share of targets that differ and is noticed',
    'Ends are rare: what is wrong only there strikes one target in a hundred or fewer.',
  ),
  copiesChanged: limit(
    'definition',
    2,
    'changes of the other tensors of a target network from which one that never changed is frozen',
    'Once could be the copy at the beginning.',
  ),
  copyLag: limit(
    'definition',
    0.5,
    "a target network's distance from its original, in units of the original's last step, below which it follows at once",
    'With a weight tau it stays at least 1 - tau of a step behind, and many steps behind in the long run; a copy that is taken in every step stays none.',
  ),
  coefExact: limit(
    'tolerance',
    1e-3,
    'difference of a derivative from the one that a formula gives, as a share of the greatest of the minibatch',
    'Derivatives are a difference and a product in single precision; another target changes them by their own size.',
  ),
  summedRows: limit(
    'definition',
    16,
    'rows of a minibatch from which a sum can be told from a mean',
    'With fewer, a coefficient of the loss could make one look like the other.',
  ),
  summedSlope: limit(
    'definition',
    0.5,
    "derivative of the loss by a prediction, in units of its error, from which it is a sum over the minibatch's rows",
    'A mean over 16 rows has a slope of at most 2 / 16; a sum has 2, 1, or 0.5 where half of each of two critics is taken.',
  ),
  cutSteps: limit(
    'test',
    3,
    'stored steps at a time limit that must all be followed by the next episode',
    'That two observations of different episodes are equal to the last bit by chance does not happen where they are not all equal.',
  ),
  insideTanh: limit(
    'tolerance',
    0.98,
    'size of a squashed action up to which the action before tanh can be had from it',
    'In single precision the inverse of tanh is exact to 1e-5 there; beyond, it is not.',
  ),
  softDensity: limit(
    'tolerance',
    0.02,
    'nats by which the log-probability of a squashed action may miss the recomputed one',
    'Programs add 1e-6 within the logarithm of the correction, which is 3e-5 of it there, and single precision gives a little more; a forgotten correction is up to 3 nats a dimension.',
  ),
  namesTold: limit('definition', 4, 'tensors that a sentence names', 'More are not read.'),
  priorityRange: limit(
    'tolerance',
    0.05,
    'range of the logarithms of probabilities within a minibatch from which they tell something',
    'Below it priorities are all but equal, as at the beginning of a run.',
  ),
  weightExact: limit(
    'tolerance',
    1e-3,
    'share of that range by which a weight may miss the line, and range of weights that are all equal',
    'Weights are a power and a quotient in single precision.',
  ),
  clearlyOff: limit(
    'tolerance',
    0.3,
    'nats by which the entropy is off what is wanted before the temperature is asked to move',
    'Nearer, the momentum of its optimiser still carries it the old way.',
  ),
} as const satisfies Record<string, Limit>;
