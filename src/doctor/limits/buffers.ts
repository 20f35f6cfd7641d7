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
