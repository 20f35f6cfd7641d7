/** Limits of continuous actions: when a recomputed log-probability is the recorded one, and when a deviation is none. */
import { type Limit, limit } from './limit.ts';

export const continuous = {
  squashEpsilon: limit(
    'tolerance',
    1e-5,
    "largest number that programs add to tanh's derivative before its logarithm",
    'Libraries add 1e-6 or 1e-7, some 1e-5; where an action is far out, that moves its log-probability by more than rounding.',
  ),
  sameAction: limit(
    'tolerance',
    1e-4,
    'relative difference of two actions that are the same',
    'What goes through tanh and a scale in single precision differs in the last digits.',
  ),
  density: limit(
    'tolerance',
    1e-4,
    'nats, and share of its size, between a recorded log-probability and the recomputed one',
    'Single precision gives 1e-5 where the deviation is not tiny; another formula differs by 1e-2 and more on most rows.',
  ),
  farOut: limit(
    'tolerance',
    0.999,
    'size of tanh beyond which a squashed action says nothing',
    'There single precision keeps too few digits of 1 - tanh², and an action that was stored squashed cannot be inverted.',
  ),
  formShare: limit(
    'definition',
    0.95,
    'share of the rows that a formula must give exactly',
    'What was computed so is given exactly, but for rows at the edge of single precision.',
  ),
  rowsPerUnknown: limit(
    'definition',
    3,
    'rows for each number that is fitted to log-probabilities',
    'A fit that could not have failed proves nothing: with three times the rows, two thirds of them are given exactly by no chance.',
  ),
  boundTies: limit(
    'definition',
    3,
    'rows with the very same smallest or largest action, from which it is a bound',
    'A continuous action is never drawn twice; clipped ones pile up at the bound.',
  ),
  unitSpread: limit(
    'test',
    12,
    'standard errors by which squared distances from the mean are off what the deviation says',
    'Far beyond chance, also where the noise of neighbouring rows is slightly related.',
  ),
  unitFit: limit(
    'test',
    4,
    'standard errors within which another deviation must give them',
    'What the actions were really drawn with fits as well as chance allows.',
  ),
  gaussianFourth: limit(
    'definition',
    3,
    "average fourth power of a Gaussian's noise, over the square of its average square",
    'A property of the distribution.',
  ),
  gaussianShape: limit(
    'tolerance',
    0.25,
    'distance of the fourth moment of noise from that of a Gaussian',
    'A thousand draws give it to a tenth; actions of several deviations, or of another kind, are farther off.',
  ),
  relatedNoise: limit(
    'definition',
    0.1,
    'correlation of the noise of neighbouring steps, from which it is no plain draw',
    'State-dependent exploration draws once for many steps, and its spread over few draws says nothing.',
  ),
  logDeviation: limit(
    'definition',
    21,
    'size of the logarithm of a deviation from which it is none',
    'Programs clamp it to 20 at the widest, where single precision no longer tells an action from its mean; healthy runs stay between -5 and 2.',
  ),
  steadyEntropy: limit(
    'tolerance',
    1e-4,
    'relative difference of two entropies that are the same',
    'Entropies of Gaussians are sums of a few logarithms, exact to rounding.',
  ),
} as const satisfies Record<string, Limit>;
