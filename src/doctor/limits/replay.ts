/** Limits of the replay: when two log-probabilities are the same, and when a row is no decision. */
import { type Limit, limit } from './limit.ts';

export const replay = {
  unknownRatio: limit(
    'definition',
    0.25,
    'share of the rows whose ratio is off before the first step for no known reason, from which its usual symptoms are no causes',
    'With a quarter of the ratios wrong from the start, KL, clip fraction and what follows from them say nothing of the steps.',
  ),
  memoryShare: limit(
    'definition',
    0.05,
    'share of the rows after the first of their episode that disagree, where first rows agree and the policy has a memory',
    'What a wrong memory does fades within a few steps, so that most rows of a long stretch agree again.',
  ),
  sameInput: limit(
    'tolerance',
    2e-5,
    'difference of two logits that one input gave',
    'Two passes of one network over another order of rows round differently in the last digits.',
  ),
  madeUpInput: limit(
    'test',
    0.1,
    'share of logits that nobody computed, and that find a row all the same, from which finding one proves nothing',
    'Where logits hardly differ from row to row, some row always fits.',
  ),
  madeUpShift: limit(
    'test',
    40,
    'tolerances by which logits are shifted to make such up',
    'Far enough to be no rounding, near enough to lie among the others.',
  ),
  logp: limit(
    'tolerance',
    1e-4,
    'nats between two log-probabilities that are the same',
    'Forward passes in single precision differ by up to 1e-5; another distribution differs by 1e-3 and more on most rows. The trainer asserts the same figure.',
  ),
  absurdLogp: limit(
    'tolerance',
    1e6,
    'nats beyond which a log-probability is no number',
    'Single precision holds probabilities down to 1e-45, whose logarithm is -104; a mask of -1e9 gives more, and is read as minus infinity.',
  ),
  replayExact: limit(
    'tolerance',
    1e-5,
    'nats between a log-probability and what a transform gives',
    'Two forward passes in single precision differ by up to this much.',
  ),
  replayRelated: limit(
    'tolerance',
    0.02,
    'the same as a share of how far the row is off',
    'A transform that was fitted is uncertain in its second digit.',
  ),
  halfPrecision: limit(
    'tolerance',
    1e-6,
    'step of a column from which it was kept in less than single precision',
    'Single precision has steps of 1.2e-7, half precision of 1e-3.',
  ),
  halfSteps: limit(
    'tolerance',
    8,
    'steps of a column in half precision that two numbers may differ by',
    'Logits, normaliser and result were each rounded, one of them after a sum.',
  ),
  replayShare: limit(
    'definition',
    0.03,
    'share of the disagreeing rows that a named transform explains',
    'Just above what is noticed at all; exact agreement needs no large share.',
  ),
  policyReplay: limit(
    'tolerance',
    0.002,
    'nats between a stored log-probability and that of the policy run again',
    'Another runtime sums in another order; what another policy gives is far beyond it.',
  ),
  policyReplayRelative: limit(
    'tolerance',
    0.1,
    'growth of the same with the size of the log-probability',
    'An unlikely action comes from a large logit, whose rounding grows with it.',
  ),
  sameEntropy: limit(
    'tolerance',
    0.001,
    'nats between two entropies that are the same',
    'Entropy is a sum over the candidates, and many programs keep four digits.',
  ),
  sameDivisor: limit(
    'tolerance',
    0.05,
    'relative distance between two temperatures that entropies of four digits ask for',
    'Where choices are nearly even, entropy hardly follows the temperature.',
  ),
  secondPass: limit(
    'definition',
    0.1,
    'difference of a second pass, over how far the row is off, from which it accounts for it',
    'Noise of a tenth cannot have moved the row by the whole.',
  ),
  sameTemperature: limit(
    'tolerance',
    0.001,
    'logarithm of a temperature that is 1',
    'A thousandth is below what a fit to rows in single precision tells.',
  ),
  phantomShare: limit(
    'definition',
    0.001,
    'share of rows without a decision that does harm',
    'One row in a thousand moves no mean.',
  ),
  copiedRows: limit(
    'tolerance',
    0.95,
    'share of the rows after an end that repeat the last one, from which they are padding',
    'A policy that happens to decide alike does so now and then.',
  ),
  drawnSigmas: limit(
    'test',
    3,
    'standard errors by which the mean log-ratio tells which of two policies drew the actions',
    'Together with a mean ratio of 1, which numbers that belong to no policy do not have, one in a thousand is rare enough.',
  ),
  drawnOdds: limit(
    'test',
    20,
    'logarithm of the odds against chance from which actions were not drawn as they were scored',
    "Bernstein's inequality holds for every distribution and every dependence of rows on one another: a false alarm in 5e8 recordings.",
  ),
  drawnFits: limit(
    'test',
    8,
    'the same odds below which another temperature gives the choices',
    'A right temperature gives odds above it in one of three thousand recordings; actions that were not drawn by any are far off.',
  ),
  drawnLeast: limit(
    'definition',
    -5,
    'log-probability below which choices count alike',
    'What comes up once in 150 times says little, and without a bound a single one could decide.',
  ),
} as const satisfies Record<string, Limit>;
