/** Every limit that makes a figure of a log a symptom, with its reason. A log accuses nobody, so these decide what is shown first, never a verdict. */
import type { Limit } from '../limits.ts';

const limit = (kind: Limit['kind'], value: number, what: string, why: string): Limit => ({ value, kind, what, why });

export const logLimits = {
  updates: limit(
    'test',
    20,
    'updates for a shift of a noisy figure',
    'With fewer, a fifth of the log is too short to have a spread.',
  ),
  trend: limit(
    'test',
    2.6,
    "Kendall's z of a trend",
    'Six numbers that all rise reach it: a chance of 0.005 on one side; a size is asked for as well.',
  ),
  rise: limit('test', 3, 'standard errors between the first and the last fifth', 'One log in a thousand by chance.'),
  fall: limit('test', 5, 'standard errors of a fall', 'Returns go up and down by themselves; a fall accuses.'),
  zeroKl: limit(
    'tolerance',
    1e-7,
    'nats that are 0',
    'Log-probabilities of one policy in single precision differ by 1e-7.',
  ),
  tinyKl: limit(
    'definition',
    1e-5,
    'nats of an update that nobody sees',
    'A thousandth of the usual band of 0.01 to 0.03.',
  ),
  tinyRate: limit(
    'definition',
    1e-7,
    'learning rate that moves nothing',
    'Adam moves a weight by about the rate: in a million steps by less than it was initialised to.',
  ),
  highKl: limit('definition', 0.3, 'nats of a policy that is far away', 'Ten times the usual band, as for rows.'),
  highClip: limit('definition', 0.6, 'share of clipped rows', 'More than half, beyond what one step too many gives.'),
  ratioOff: limit('definition', 0.2, 'distance of a mean ratio from 1', 'A mean ratio is 1 up to noise.'),
  entropyNear: limit(
    'tolerance',
    0.01,
    'share by which entropy may miss log K',
    'A blind policy reaches log K to a per cent.',
  ),
  explained: limit('definition', -0.1, 'explained variance', 'Worse than a constant, and not by noise.'),
  grows: limit(
    'definition',
    10,
    'times that a value loss grows',
    'Beyond what the returns it predicts grew by, squared.',
  ),
  growsLearning: limit(
    'definition',
    1000,
    'the same, while returns rise',
    'Then rewards are found, and errors with them.',
  ),
  oneSided: limit('definition', 3, 'spreads between 0 and the mean of the advantages', 'Then all have one sign.'),
  offCentre: limit(
    'definition',
    0.5,
    'spreads between 0 and the mean of advantages that enter a loss',
    'Normalised ones have a mean of 0; raw ones of a critic that learns stay near it.',
  ),
  apart: limit(
    'definition',
    100,
    'times that losses of two agents differ',
    'Beyond the square of what their returns differ by. Agents of one game stay within ten.',
  ),
  afterPeak: limit('definition', 0.5, 'share of the gain that is lost again', 'Half of it is no wobble.'),
} as const satisfies Record<string, Limit>;
