/** Limits of agents that plan: when two beliefs, chances or values are the same. */
import { type Limit, limit } from './limit.ts';

export const planning = {
  sameBelief: limit(
    'tolerance',
    1e-4,
    'difference of two beliefs that are the same',
    "Bayes' rule over a few numbers in double precision; chances from a network add the last digits of single precision.",
  ),
  sameChance: limit(
    'tolerance',
    1e-3,
    'difference of two chances of one move that one network gave in two passes',
    'Passes over other batches differ in the last digits of single precision; a network that has learnt since differs by more.',
  ),
  sameRoot: limit(
    'tolerance',
    1e-3,
    "share of the spread of values between a state's value in the search and in the row",
    'It is the same network on the same numbers, rounded to single precision.',
  ),
  randomShare: limit(
    'tolerance',
    2e-3,
    'share of random moves that is read off a row in which there should be none',
    'The share is a least-squares fit to log-probabilities in single precision; shares that anybody sets are ten times as large.',
  ),
} as const satisfies Record<string, Limit>;
