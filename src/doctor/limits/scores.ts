/** What a finding is worth beside others, from 0 to 1: an order of how well a cause is supported, not a probability. */
import { type Limit, limit } from './limit.ts';

export const scores = {
  fullScore: limit('score', 0.995, 'score of a transform that explains every row of very many', 'Nothing is certain.'),
  perStep: limit(
    'score',
    4,
    'rows that a step is worth',
    'A step is a mean over its rows, so chance moves it less than one row.',
  ),
  perUpdate: limit('score', 8, 'rows that an update is worth', 'Likewise, of several steps.'),
  perDirection: limit(
    'score',
    16,
    'rows that the direction of an update is worth',
    'It is a correlation over 64 rows or more, beyond four standard errors.',
  ),
  notFinite: limit('score', 100, 'rows that a number that is not finite is worth', 'One of them proves itself.'),
  candidate: limit('score', 0.3, 'score of what no transform proves', 'Below `sure`: a candidate and no cause.'),
  circumstantial: limit(
    'score',
    0.6,
    'highest score where a disagreement is certain and what caused it is inferred',
    'Below what a transform proves.',
  ),
  oneWitness: limit(
    'score',
    0.7,
    'highest score where one of two witnesses is missing',
    'The other may have another reason.',
  ),
  byScale: limit('score', 0.8, 'highest score of a scale that is far from the usual', 'Some programs mean it.'),
  byDirection: limit('score', 0.85, 'highest score of steps that do not follow their rows', 'A test and no identity.'),
  byFit: limit(
    'score',
    0.9,
    'highest score of a fitted line or coefficient',
    'It holds for all updates, but nothing was undone row by row.',
  ),
  byCorrelation: limit(
    'score',
    0.95,
    'highest score of a correlation with the wrong sign',
    'Far beyond chance, but no identity.',
  ),
  shownNoise: limit(
    'score',
    0.6,
    'score from which noise was shown by a second pass, and not only inferred',
    'What is inferred has `circumstantial` at most.',
  ),
  asSure: limit(
    'score',
    0.5,
    'share of the score of a symptom that its cause must have',
    'A cause that is half as likely as its symptom explains nothing.',
  ),
  firstRank: limit(
    'score',
    0.75,
    'score from which causes are ranked by their place in the flow',
    'Ceilings below it are those of what is inferred.',
  ),
  secondRank: limit(
    'score',
    0.5,
    'the same for the second rank',
    'Above it more speaks for the cause than against it.',
  ),
} as const satisfies Record<string, Limit>;
