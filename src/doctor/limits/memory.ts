/** Limits of policies with a memory, and of what the policy sees: when two states or inputs are the same. */
import { type Limit, limit } from './limit.ts';

export const memory = {
  sameState: limit(
    'tolerance',
    1e-4,
    'difference of two hidden states that are the same, per entry',
    'A state that is computed again over a few rows, in another order of sums, differs in the last digits of single precision.',
  ),
  fewestStates: limit(
    'test',
    3,
    'hidden states that differ from those of acting',
    'A state is a list of numbers of which all are compared, so that one is off by no accident; three are no slip of one sequence.',
  ),
  sequenceGap: limit(
    'definition',
    64,
    'rows of a stream that may be left out between two rows of one sequence',
    'Rows of the dead, or rows that only warm the memory up, are often left out; a sequence is seldom longer than this.',
  ),
  mostSequences: limit(
    'definition',
    1048576,
    'sequences and minibatches that are told apart by number',
    'More do not fit into one update.',
  ),
  normaliserFit: limit(
    'tolerance',
    1e-4,
    'share of its spread by which an input may miss the map from the one that acting saw',
    'A normaliser maps every row alike, exactly; what is clipped or computed anew does not.',
  ),
  normaliserMoved: limit(
    'tolerance',
    1e-3,
    'share of its spread by which inputs of the update must differ from those of acting to count',
    'Rounding is far below; a normaliser that goes on learning moves by more in its first thousand rows.',
  ),
  sameBootstrap: limit(
    'tolerance',
    1e-5,
    'share of the spread of values between a bootstrap and the value that it was taken from',
    'It is the very number, rounded at most once or twice on its way through an advantage.',
  ),
} as const satisfies Record<string, Limit>;
