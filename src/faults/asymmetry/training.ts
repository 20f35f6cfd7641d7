/** Asymmetry faults of training: equal agents get unequal settings, updates, data or places in the order. */
import type { Learner } from '../../algorithms/learner.ts';
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { Batch } from '../../batch/batch.ts';
import type { Stages } from '../../training/stages.ts';
import { between, type Fault, type FaultContext, magnitude, rounded, type Strength, whole } from '../fault.ts';
import { Lists } from '../lists.ts';
import { iterationOf, withColumns } from '../row-order.ts';
import { chance } from '../scope.ts';

type Stream = Parameters<Fault['make']>[0];

/** A fault that singles out one agent with a policy of its own. */
function oneAgentFault(
  of: Pick<Fault, 'id' | 'cause' | 'stage' | 'sentence' | 'shows'>,
  draw: (
    stream: Stream,
    agent: number,
    context: FaultContext,
  ) => { strength: Strength; stages: (clean: Stages) => Partial<Stages> },
): Fault {
  return {
    ...of,
    needs: ['separate'],
    make(stream, context) {
      const { learning } = context.traits;
      const agent = learning[stream.below(learning.length)];
      const { strength, stages } = draw(stream, agent, context);
      return { strength: { agent, ...strength }, stages };
    },
  };
}

const plays = (learner: Learner, agent: number) => learner.agents.includes(agent);

function otherSetting(
  id: string,
  sentence: string,
  shows: readonly string[],
  draw: (stream: Stream) => { strength: Strength; change: (settings: TrainJob['settings']) => TrainJob['settings'] },
): Fault {
  return oneAgentFault({ id, cause: 'settings-differ', stage: 'loss', sentence, shows }, (stream, agent) => {
    const { strength, change } = draw(stream);
    return {
      strength,
      stages: (clean) => ({
        loss(job) {
          const made = clean.loss(job);
          return plays(job.learner, agent) ? { ...made, settings: change(made.settings) } : made;
        },
      }),
    };
  });
}

/** A factor that is clearly not 1. */
const apart = (stream: Stream, most: number) =>
  rounded(stream.uniform() < 0.5 ? magnitude(stream, 2, most) : 1 / magnitude(stream, 2, most));

function otherCredit(id: string, name: 'gamma' | 'lambda', sentence: string): Fault {
  return oneAgentFault(
    { id, cause: 'settings-differ', stage: 'credit', sentence, shows: ['samples.advantage', 'samples.return'] },
    (stream, agent) => {
      const value = rounded(between(stream, 0.3, 0.8));
      return {
        strength: { [name]: value },
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, { ...ppo, [name]: value });
            const advantage = batch.advantage.slice(0, batch.rows);
            const returns = batch.return.slice(0, batch.rows);
            clean.credit(batch, ppo);
            for (let row = 0; row < batch.rows; row++) {
              if (batch.agent[row] !== agent) continue;
              batch.advantage[row] = advantage[row];
              batch.return[row] = returns[row];
            }
          },
        }),
      };
    },
  );
}

const settings: readonly Fault[] = [
  otherSetting('learning-rate-of-one', "One agent's learning rate differs.", ['tensors.learning_rate'], (stream) => {
    const factor = apart(stream, 20);
    return {
      strength: { factor },
      change: (own) => {
        const scaled = (group: typeof own.groups.trunk) => ({ ...group, learningRate: group.learningRate * factor });
        const { trunk, head, critic } = own.groups;
        return { ...own, groups: { trunk: scaled(trunk), head: scaled(head), critic: scaled(critic) } };
      },
    };
  }),
  otherSetting('entropy-coefficient-of-one', "One agent's entropy coefficient differs.", ['steps.loss'], (stream) => {
    const coefficient = rounded(magnitude(stream, 0.05, 0.5));
    return { strength: { coefficient }, change: (own) => ({ ...own, entropyCoefficient: coefficient }) };
  }),
  otherSetting('clip-of-one', "One agent's clip range differs.", ['steps.clip_fraction'], (stream) => {
    const clip = rounded(magnitude(stream, 0.001, 0.01));
    return { strength: { clip }, change: (own) => ({ ...own, clip }) };
  }),
  otherCredit('gamma-of-one', 'gamma', "One agent's rewards are discounted otherwise."),
  otherCredit('lambda-of-one', 'lambda', "One agent's credit trusts its critic more."),
];

/** No rows, no update: the learner takes no step in such an iteration. */
function withoutUpdate(clean: Stages, skips: (learner: Learner, iteration: number) => boolean): Partial<Stages> {
  return {
    select: (batch, learner, rows) => (skips(learner, iterationOf(batch)) ? 0 : clean.select(batch, learner, rows)),
  };
}

const updates: readonly Fault[] = [
  oneAgentFault(
    {
      id: 'updated-less-often',
      cause: 'update-count-differs',
      stage: 'select',
      sentence: 'One agent is updated only in some of the iterations.',
      shows: ['replays.policy'],
    },
    (stream, agent) => {
      const every = whole(stream, 2, 3);
      return {
        strength: { every },
        stages: (clean) =>
          withoutUpdate(clean, (learner, iteration) => plays(learner, agent) && iteration % every !== 0),
      };
    },
  ),
  {
    id: 'others-stop-learning',
    cause: 'update-count-differs',
    stage: 'select',
    sentence: 'All agents but the first stop learning after a number of updates.',
    shows: ['replays.policy'],
    needs: ['separate', 'several-iterations'],
    make(stream, { iterations }) {
      const most = Math.max(1, Math.round(between(stream, 0.2, 0.6) * Math.min(iterations, 125)));
      return {
        strength: { updates: most },
        stages: (clean) => withoutUpdate(clean, (learner) => learner.index > 0 && learner.updates >= most),
      };
    },
  },
];

const orders: readonly Fault[] = [
  {
    id: 'order-uses-up-the-step',
    cause: 'training-order-matters',
    stage: 'loss',
    sentence:
      'A step size that shrinks with every agent is carried from one to the next, so that the order of updates decides who learns.',
    shows: ['tensors.learning_rate'],
    needs: ['separate'],
    make(stream) {
      const left = rounded(between(stream, 0.2, 0.6));
      const position = new Map<number, number>();
      let iteration = -1;
      return {
        strength: { left },
        stages: (clean) => ({
          // Learners are prepared in the order in which they are updated.
          prepare(batch, rows, count, learner, ppo, into) {
            if (iterationOf(batch) !== iteration) position.clear();
            iteration = iterationOf(batch);
            position.set(learner.index, position.size);
            return clean.prepare(batch, rows, count, learner, ppo, into);
          },
          loss(job) {
            const made = clean.loss(job);
            const factor = left ** (position.get(job.learner.index) ?? 0);
            const shrunk = (group: typeof made.settings.groups.trunk) => ({
              ...group,
              learningRate: group.learningRate * factor,
            });
            const { trunk, head, critic } = made.settings.groups;
            const groups = { trunk: shrunk(trunk), head: shrunk(head), critic: shrunk(critic) };
            return { ...made, settings: { ...made.settings, groups } };
          },
        }),
      };
    },
  },
];

/** Leaves out the rows of one agent that `lost` names, before the batch is sorted. */
function lose(batch: Batch, agent: number, lost: (row: number) => boolean): void {
  const kept: number[] = [];
  for (let row = 0; row < batch.rows; row++) if (batch.agent[row] !== agent || !lost(row)) kept.push(row);
  batch.reorder(Int32Array.from(kept), kept.length);
}

const data: readonly Fault[] = [
  oneAgentFault(
    {
      id: 'episodes-of-one-lost',
      cause: 'data-imbalance',
      stage: 'collect',
      sentence: "Part of one agent's episodes never reach its buffer.",
      shows: ['samples.agent', 'counters.value'],
    },
    (stream, agent) => {
      const share = rounded(between(stream, 0.3, 0.8));
      const salt = stream.int32();
      return {
        strength: { share },
        stages: (clean) => ({
          collect(collector, batch) {
            clean.collect(collector, batch);
            lose(batch, agent, (row) => chance(salt, batch.episode[row], 0) < share);
          },
        }),
      };
    },
  ),
  oneAgentFault(
    {
      id: 'early-return-of-one',
      cause: 'data-imbalance',
      stage: 'collect',
      sentence: "Storing one agent's rows returns early after the first steps of an episode.",
      shows: ['samples.agent', 'counters.value'],
    },
    (stream, agent) => {
      const steps = whole(stream, 1, 3);
      return {
        strength: { steps },
        stages: (clean) => ({
          collect(collector, batch) {
            clean.collect(collector, batch);
            lose(batch, agent, (row) => batch.t[row] >= steps);
          },
        }),
      };
    },
  ),
];

const perspectives: readonly Fault[] = [
  {
    id: 'actions-rotated-by-agent',
    cause: 'perspective-mismatch',
    stage: 'prepare',
    sentence:
      "The update turns each agent's candidates by the agent's number, as its observation was turned, and leaves its actions as they are.",
    shows: ['replays.new_logp', 'replays.subset'],
    needs: ['agents'],
    make: () => ({
      strength: {},
      stages: (clean) => ({
        prepare(batch, rows, count, learner, ppo, into) {
          const lists = new Lists(batch);
          for (let row = 0; row < batch.rows; row++) {
            const length = batch.numActions[row];
            const turn = batch.agent[row] % length;
            lists.reorder(
              row,
              Array.from({ length }, (_, c) => (c + turn) % length),
            );
          }
          return withColumns(batch, lists.columns, () => clean.prepare(batch, rows, count, learner, ppo, into));
        },
      }),
    }),
  },
];

export const trainingAsymmetries: readonly Fault[] = [...settings, ...updates, ...orders, ...data, ...perspectives];
