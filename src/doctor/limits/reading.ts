/** Limits of what is reported: when a reading is another figure than it claims to be. */
import { type Limit, limit } from './limit.ts';

export const reading = {
  metric: limit(
    'tolerance',
    1e-3,
    'relative difference of a reported metric from what the rows give',
    'Single precision, and logs that keep four digits. One and the same form of the metric must fit all steps.',
  ),
  metricShare: limit(
    'definition',
    0.25,
    'share of the steps that must report it wrongly, or a tenth from a late onset on',
    'A reading that is wrong now and then, by rows that were dropped for instance, misleads nobody.',
  ),
  klVisible: limit(
    'tolerance',
    5,
    'times the rounding that k2 must exceed to tell formulas of KL apart',
    'Below it all of them are rounding.',
  ),
  klRounding: limit(
    'tolerance',
    4,
    'steps of a log-probability that a KL may be off',
    'It is a mean of differences of two rounded numbers and their exponential.',
  ),
  clipRows: limit(
    'tolerance',
    0.6,
    'rows by which a clip fraction may be off',
    'One row at the edge of the clip is counted either way.',
  ),
  entropyVisible: limit('tolerance', 0.001, 'entropy that tells formulas apart', 'Below it all of them are rounding.'),
  entropySlack: limit('tolerance', 1e-5, 'nats between two entropies of a step', 'Sums in single precision.'),
  noisyK1: limit(
    'definition',
    0.5,
    'standard error of k1 over k2, from which it is mostly noise',
    'What the cause means.',
  ),
  k1Steps: limit('test', 3, 'steps whose reported KL is k1', 'One or two may be k1 by chance, where estimators agree.'),
  lateReadings: limit(
    'test',
    8,
    'steps that are reported wrongly after a late onset',
    'As many as rows must support a cause.',
  ),
  lateReadingShare: limit('definition', 0.1, 'share of all steps likewise', 'A tenth of a run is no accident.'),
  entropyFull: limit(
    'definition',
    0.99,
    'entropy as a share of log K that strikes the eye',
    'Within a per cent of a blind choice.',
  ),
  seldom: limit(
    'definition',
    0.1,
    'share of a column that may be missing and come back',
    'A figure that is told of some steps only is missing in most.',
  ),
} as const satisfies Record<string, Limit>;
