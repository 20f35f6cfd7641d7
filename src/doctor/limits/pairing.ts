/** Limits of drawing: when the credit in a loss is that of other rows of the batch. */
import { type Limit, limit } from './limit.ts';

export const pairing = {
  poolRows: limit(
    'test',
    16,
    'values of a cell that must hit members of a pool',
    'Two of them fix the line; fourteen hits at a chance of a fifth are none.',
  ),
  poolReach: limit(
    'test',
    12,
    'exponent of the chance that an extreme lies further inside the pool',
    'exp(-12) is 6e-6.',
  ),
  poolChance: limit(
    'test',
    0.2,
    'chance of a hit from which hits prove too little',
    'Sixteen of them are then a chance of 6e-12.',
  ),
  poolMissed: limit(
    'tolerance',
    0.05,
    'share of the values that may hit no member',
    'Rows that a guard left out of the pool.',
  ),
  poolStrangers: limit(
    'definition',
    0.4,
    'share of the values that may be of rows that were not recorded',
    'The counterpart of `sure`: what is drawn from the batch is then still the rule.',
  ),
  poolStrangerChance: limit(
    'test',
    0.05,
    'chance of a hit where so many may miss',
    'Twenty hits of thirty-two are then a chance of 1e-18, over some thousand lines that are tried.',
  ),
} as const satisfies Record<string, Limit>;
