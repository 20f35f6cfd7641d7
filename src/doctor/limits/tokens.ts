/** Limits of language models: the floor of half precision, the fit of the loss, and groups without a signal. */
import { type Limit, limit } from './limit.ts';

export const tokens = {
  floorTimes: limit(
    'tolerance',
    3,
    'gap between sampler and trainer over the gap of two clean passes, at the same quantile',
    'Another batch shape, a cache and another kernel each add rounding of the same size; three of them together are still the floor.',
  ),
  floorMedian: limit(
    'tolerance',
    0.05,
    'median of the floor over its gap of nine tokens in ten, at least',
    'In half precision half of the tokens are nearly certain: their gap is nearly 0 and differs by orders of magnitude between batches, which the other half does not.',
  ),
  halfMedian: limit(
    'tolerance',
    0.01,
    'nats of the median gap in half precision, where no two clean passes were recorded',
    'As seen in bf16 between batches of one and of eight.',
  ),
  halfNine: limit('tolerance', 0.05, 'the same for nine tokens in ten', 'As seen there.'),
  halfTail: limit('tolerance', 0.12, 'the same for 98 tokens in a hundred', 'As seen there.'),
  growsFrom: limit(
    'definition',
    0.6,
    'median gap of the lower half of a figure over that of the upper, from which disagreement grows with it',
    'Where no row is without padding, those with little must be struck clearly less; by chance two halves of a few hundred rows differ by a tenth.',
  ),
  engineNoise: limit(
    'tolerance',
    0.05,
    'nats of the median gap that rounding of an inference engine can be',
    'Engines in bf16 or 8 bits were seen at 0.01 to 0.03; more is another distribution.',
  ),
  flatGroups: limit(
    'definition',
    0.5,
    'share of groups without a signal',
    'Where more than half of the samples teach nothing, that is what to change first.',
  ),
  flatSigmas: limit(
    'test',
    3,
    'standard errors by which the share of groups without a signal must exceed it',
    'A chance of 1e-3, of one such test in a recording; groups are few.',
  ),
  coef: limit(
    'tolerance',
    2e-3,
    'relative error of the derivative of the loss, in the median, that is rounding',
    'Ratios and weights are exponentials of differences in single precision; a wrong term or level is off by a hundredth at least on most rows.',
  ),
  coefNoticed: limit(
    'tolerance',
    1e-3,
    'size of a term, over the largest, below which it tells nothing',
    'In single precision a sum keeps four digits of what is a thousandth of it.',
  ),
  coefTypical: limit(
    'tolerance',
    0.05,
    'share of the typical derivative that is added to what an error is relative to',
    'Terms that cancel leave small numbers with few digits.',
  ),
  sameKl: limit(
    'tolerance',
    0.02,
    'relative spread of a KL coefficient that is one coefficient',
    'It is a quotient of sums over a response, of which some tokens may lie beyond what was recorded.',
  ),
  coefHalf: limit(
    'tolerance',
    1.5e-2,
    'the same in half precision',
    'A number in bf16 has 8 bits: half of the last is 0.4 %, and a derivative is a product of three.',
  ),
  coefTail: limit(
    'tolerance',
    10,
    'the same for nine rows in ten, as a multiple of the median',
    'Rows whose terms nearly cancel, or that lie at the edge of the clip, keep fewer digits.',
  ),
  coefTimes: limit(
    'tolerance',
    5,
    'the same for one factor over all rows',
    'A count of tokens is exact, but an accumulated gradient scale is a product of several roundings.',
  ),
  byCondition: limit(
    'score',
    0.95,
    'what evidence by condition is worth beside a recomputation',
    'That responses with padding disagree and others do not is no accident, but it is not computed anew either.',
  ),
  followed: limit(
    'test',
    0.1,
    'correlation of the size of a gap with iteration, place or padding, from which it follows it',
    'Rounding does not know where it is; four standard errors are added for the number of rows.',
  ),
  sameTokenReward: limit(
    'tolerance',
    1e-4,
    'relative difference of two rewards that are the same',
    'Rewards are written in single precision, and read back as text at times.',
  ),
  tokenCredit: limit(
    'tolerance',
    5e-3,
    'spreads between two advantages of responses that are the same',
    'A deviation over a group of four in single precision, with an epsilon of 1e-4 or 1e-6 beside it, is uncertain in its third digit.',
  ),
} as const satisfies Record<string, Limit>;
