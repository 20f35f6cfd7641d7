/** Numbers that are none: NaN and infinity, each from the stage in which it first appears. */

import type { Batch } from '../../batch/batch.ts';
import type { RandomStream } from '../../math/random.ts';
import { afterActing } from '../distribution/old.ts';
import { type Fault, whole } from '../fault.ts';
import { changePrepared, copied, iterationOf, preparedStruck } from '../row-order.ts';
import { Scope } from '../scope.ts';

/** A few rows, at least one of each batch. */
const someRows = (stream: RandomStream) => whole(stream, 5, 40);

export const notFiniteFaults: readonly Fault[] = [
  {
    id: 'reward-not-a-number',
    cause: 'non-finite',
    stage: 'collect',
    sentence: 'Some rewards are stored as NaN.',
    shows: ['samples.reward', 'samples.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const every = someRows(stream);
      return {
        strength: { ...scope.strength, every },
        stages: (clean) => ({
          collect(collector, batch) {
            const { iteration } = collector;
            clean.collect(collector, batch);
            if (scope.begun(iteration)) spoil(batch, every, scope, batch.reward, Number.NaN);
          },
        }),
      };
    },
  },
  {
    id: 'advantage-infinite',
    cause: 'non-finite',
    stage: 'credit',
    sentence: 'A division by 0 in the credit pass makes some advantages infinite.',
    shows: ['samples.advantage', 'replays.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const every = someRows(stream);
      return {
        strength: { ...scope.strength, every },
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            if (scope.begun(iterationOf(batch))) spoil(batch, every, scope, batch.advantage, Infinity);
          },
        }),
      };
    },
  },
  {
    id: 'old-logp-log-of-zero',
    cause: 'non-finite',
    stage: 'act',
    sentence: 'Some stored probabilities were rounded to 0, and their logarithm is minus infinity.',
    shows: ['samples.old_logp', 'replays.old_logp'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const every = someRows(stream);
      let seen = 0;
      return {
        strength: { ...scope.strength, every },
        stages: (clean) =>
          afterActing(clean, scope, ({ out }, row) => {
            if (seen++ % every === 0) out.logp[row] = -Infinity;
          }),
      };
    },
  },
  {
    id: 'value-target-overflows',
    cause: 'non-finite',
    stage: 'prepare',
    sentence: 'Some targets of the critic are so large that the value loss overflows.',
    shows: ['replays.return', 'steps.value_loss'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const every = someRows(stream);
      return {
        strength: { ...scope.strength, every },
        stages: (clean) =>
          changePrepared(clean, scope, (made) => {
            const returns = copied(made.return, made.length);
            let seen = 0;
            for (let row = 0; row < made.length; row++)
              if (preparedStruck(made, row, scope) && seen++ % every === 0) returns[row] = 1e30;
            return { return: returns };
          }),
      };
    },
  },
];

/** Writes a number into one of every so many rows of the agents struck. */
function spoil(batch: Batch, every: number, scope: Scope, column: Float32Array, value: number): void {
  let seen = 0;
  for (let row = 0; row < batch.rows; row++)
    if (scope.agent(batch.agent[row]) && seen++ % every === 0) column[row] = value;
}
