/** Faults of the update's input: the policy is given other observations than when it acted, the same ones in every pass. */
import type { LearnerRows, TrainJob } from '../../algorithms/ppo/update.ts';
import type { RandomStream } from '../../math/random.ts';
import { between, type Fault, rounded, type Strength } from '../fault.ts';
import { Scope } from '../scope.ts';

/** The observations of all rows as the update sees them. */
type Change = (rows: LearnerRows) => Float32Array;

function inputFault(
  id: string,
  sentence: string,
  draw: (stream: RandomStream) => { strength: Strength; change: Change },
): Fault {
  return {
    id,
    cause: 'inputs-differ',
    stage: 'loss',
    sentence,
    shows: ['replays.new_logp', 'replays.logits'],
    make(stream, context) {
      // Whoever begins later has changed what acting and learning share.
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const { strength, change } = draw(stream);
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      /** One copy for all minibatches of a learner's update. */
      const changed = new Map<number, { iteration: number; obs: Float32Array }>();
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => ({
          loss(job) {
            const made = clean.loss(job);
            if (!strikes(job)) return made;
            const { iteration, learner } = made;
            const kept = changed.get(learner.index);
            const obs = kept?.iteration === iteration ? kept.obs : change(made.rows);
            changed.set(learner.index, { iteration, obs });
            return { ...made, rows: { ...made.rows, obs } };
          },
        }),
      };
    },
  };
}

export const inputFaults: readonly Fault[] = [
  inputFault('observations-raw', 'Acting saw normalised observations, and the update sees raw ones.', (stream) => {
    const scale = rounded(between(stream, 2, 5));
    const offset = rounded(between(stream, 0.2, 1));
    return { strength: { scale, offset }, change: ({ obs }) => obs.map((value) => scale * value + offset) };
  }),
  inputFault(
    'observations-of-the-row-before',
    'The update gives every row the observation of the row before it.',
    () => ({
      strength: {},
      change: ({ obs, length }) => {
        const width = obs.length / length;
        const moved = obs.slice();
        moved.copyWithin(width, 0, (length - 1) * width);
        return moved;
      },
    }),
  ),
];
