/** Faults of which rows are trained on: rows that no decision made, padding, another agent's rows, and a critic that sees another row. */
import type { LearnerRows } from '../../algorithms/ppo/update.ts';
import type { Batch } from '../../batch/batch.ts';
import { localPolicy, localPolicyBuffer, sampleIndex } from '../../math/local-policy.ts';
import { type Fault, type FaultContext, type Strength, whole } from '../fault.ts';
import {
  changePrepared,
  gathered,
  iterationOf,
  laggedRows,
  nextRows,
  type Prepared,
  preparedStruck,
  rowsOfOther,
  turned,
  withColumns,
} from '../row-order.ts';
import { chance, Scope } from '../scope.ts';
import type { Need } from '../traits.ts';

type Stream = Parameters<Fault['make']>[0];

/** Is called for each row that was collected; `next` is the following row of the same agent in the same world. */
type Extra = (batch: Batch, row: number, longest: number, next: Int32Array) => void;

/** Adds rows to a batch after it was collected. */
function extraRows(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'needs'>,
  draw: (stream: Stream) => { strength: Strength; extra: Extra },
  share?: number,
): Fault {
  return {
    needs: ['ends'],
    ...of,
    stage: 'collect',
    shows: ['samples.t', 'replays.sample'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, share === undefined ? {} : { share });
      const { strength, extra } = draw(stream);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => ({
          collect(collector, batch) {
            const { iteration } = collector;
            clean.collect(collector, batch);
            if (!scope.begun(iteration)) return;
            const { rows } = batch;
            const next = nextRows(batch, 'world');
            let longest = 0;
            for (let row = 0; row < rows; row++) longest = Math.max(longest, batch.t[row] + 1);
            for (let row = 0; row < rows; row++)
              if (scope.agent(batch.agent[row]) && scope.chosen(iteration, row)) extra(batch, row, longest, next);
          },
        }),
      };
    },
  };
}

/** The same row once more at a later step, unpaid, with another action. */
function repeatRow(batch: Batch, row: number, later: number, action: number): number {
  const added = batch.rows;
  batch.append(batch, [row]);
  batch.t[added] = batch.t[row] + later;
  batch.action[added] = action;
  batch.oldLogp[added] = logpOf(batch, added);
  batch.reward[added] = 0;
  batch.envReward[added] = 0;
  batch.nextValue[added] = 0;
  return added;
}

let buffer = localPolicyBuffer(64);

function fillDistribution(batch: Batch, row: number): void {
  const start = batch.first[row];
  if (buffer.probabilities.length < batch.numActions[row]) buffer = localPolicyBuffer(2 * batch.numActions[row]);
  const logits = batch.logits.subarray(start, start + batch.numActions[row]);
  localPolicy(logits, null, batch.legal.subarray(start, start + batch.numActions[row]), 1, buffer);
}

function logpOf(batch: Batch, row: number): number {
  fillDistribution(batch, row);
  return buffer.logProbabilities[batch.action[row]];
}

function firstLegal(batch: Batch, row: number): number {
  const start = batch.first[row];
  return batch.legal.subarray(start, start + batch.numActions[row]).indexOf(1);
}

const ended = (batch: Batch, row: number) => batch.terminated[row] === 1 || batch.truncated[row] === 1;

const phantoms: readonly Fault[] = [
  extraRows(
    {
      id: 'phantom-after-leaving',
      cause: 'phantom-steps',
      sentence: 'An agent whose episode is over goes on making rows with one dummy action.',
    },
    (stream) => {
      const most = whole(stream, 2, 5);
      const salt = stream.int32();
      return {
        strength: { most },
        extra(batch, row) {
          if (!ended(batch, row)) return;
          // As long as the others still play, which differs from episode to episode.
          const steps = 1 + Math.floor(chance(salt, batch.episode[row], batch.agent[row]) * most);
          for (let later = 1; later <= steps; later++) {
            const added = repeatRow(batch, row, later, firstLegal(batch, row));
            batch.terminated[added] = 1;
            batch.truncated[added] = 0;
          }
        },
      };
    },
  ),
  extraRows(
    {
      id: 'phantom-reset-row',
      cause: 'phantom-steps',
      sentence: 'The step that only resets a world is stored like a decision.',
    },
    (stream) => ({
      strength: {},
      extra(batch, row, _, next) {
        // What is seen is the first state of the next episode; a world that has none in this batch was not reset.
        if (!ended(batch, row) || next[row] < 0) return;
        fillDistribution(batch, next[row]);
        const action = sampleIndex(buffer.probabilities, stream.uniform(), 0, batch.numActions[next[row]]);
        const added = repeatRow(batch, next[row], 0, action);
        batch.episode[added] = batch.episode[row];
        batch.t[added] = batch.t[row] + 1;
        batch.terminated[added] = 0;
        batch.truncated[added] = 0;
        batch.nextValue[added] = batch.value[next[row]];
      },
    }),
  ),
  extraRows(
    {
      id: 'phantom-repeated-row',
      cause: 'phantom-steps',
      sentence: 'Some decisions are stored twice, the second time unpaid.',
      needs: ['several-steps'],
    },
    () => ({
      strength: {},
      extra(batch, row) {
        // After an end it would be a row of the other kinds.
        if (!ended(batch, row)) repeatRow(batch, row, 0, batch.action[row]);
      },
    }),
    0.2,
  ),
];

function padding(id: string, sentence: string, zeros: boolean): Fault {
  return extraRows({ id, cause: 'padding-trained', sentence }, (stream) => {
    const beyond = whole(stream, 1, 3);
    return {
      strength: { beyond },
      extra(batch, row, longest) {
        if (!ended(batch, row)) return;
        const rows = longest + beyond - (batch.t[row] + 1);
        for (let later = 1; later <= rows; later++) {
          const added = repeatRow(batch, row, later, zeros ? 0 : batch.action[row]);
          batch.terminated[added] = 1;
          batch.truncated[added] = 0;
          if (zeros) fillZeros(batch, added);
        }
      },
    };
  });
}

function fillZeros(batch: Batch, row: number): void {
  const { observation, criticState, features } = batch.shape;
  const slot = batch.slot[row];
  const first = batch.first[row];
  const end = first + batch.numActions[row];
  batch.obs.fill(0, slot * observation, (slot + 1) * observation);
  batch.state.fill(0, slot * criticState, (slot + 1) * criticState);
  batch.candidateFeatures.fill(0, first * features, end * features);
  batch.logits.fill(0, first, end);
  batch.legal.fill(1, first, end);
  batch.oldLogp[row] = 0;
  batch.value[row] = 0;
}

const paddings: readonly Fault[] = [
  padding(
    'padding-zeros',
    'Episodes are padded with rows of zeros to one length, and the padding enters the loss.',
    true,
  ),
  padding(
    'padding-repeats',
    'Episodes are padded by repeating their last row, and the padding enters the loss.',
    false,
  ),
];

/** The critic's input of other rows of the batch. */
function criticInputs(made: LearnerRows, { batch, rows }: Prepared, source: Int32Array, scope: Scope): Float32Array {
  const central = batch.shape.criticState > 0;
  const width = central ? batch.shape.criticState : batch.shape.observation;
  const column = central ? batch.state : batch.obs;
  const state = new Float32Array(made.length * width);
  for (let row = 0; row < made.length; row++) {
    const other = preparedStruck(made, row, scope) ? source[rows[row]] : -1;
    const from = batch.slot[other >= 0 ? other : rows[row]];
    state.set(column.subarray(from * width, (from + 1) * width), row * width);
  }
  return state;
}

function criticFault(
  id: string,
  sentence: string,
  needs: readonly Need[],
  draw: (stream: Stream, context: FaultContext) => { strength: Strength; source: (batch: Batch) => Int32Array },
): Fault {
  return {
    id,
    cause: 'critic-context-misaligned',
    stage: 'prepare',
    sentence,
    shows: ['replays.value'],
    needs,
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const { strength, source } = draw(stream, context);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) =>
          changePrepared(clean, scope, (made, from) => ({
            state: criticInputs(made, from, source(from.batch), scope),
          })),
      };
    },
  };
}

const critics: readonly Fault[] = [
  criticFault(
    'critic-sees-other-agent',
    "In the update the critic sees another agent's input of the same step.",
    ['together'],
    (stream, { traits }) => {
      const turn = whole(stream, 1, traits.learning.length - 1);
      return { strength: { turn }, source: (batch) => rowsOfOther(batch, turned(traits.learning, turn)) };
    },
  ),
  criticFault(
    'critic-sees-other-step',
    'In the update the critic sees the input of the step before or after.',
    ['several-steps'],
    (stream) => {
      const lag = stream.uniform() < 0.5 ? 1 : -1;
      return { strength: { lag }, source: (batch) => laggedRows(nextRows(batch, 'episode'), lag) };
    },
  ),
  {
    id: 'critic-target-of-other-agent',
    cause: 'critic-context-misaligned',
    stage: 'prepare',
    sentence: "The critic learns another agent's return of the same step.",
    shows: ['replays.return'],
    needs: ['together'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const turn = whole(stream, 1, context.traits.learning.length - 1);
      const other = turned(context.traits.learning, turn);
      return {
        strength: { ...scope.strength, turn },
        stages: (clean) => ({
          prepare(batch, rows, count, learner, ppo, into) {
            const run = () => clean.prepare(batch, rows, count, learner, ppo, into);
            if (!scope.begun(iterationOf(batch))) return run();
            return withColumns(batch, { return: gathered(batch.return, rowsOfOther(batch, other), batch, scope) }, run);
          },
        }),
      };
    },
  },
];

function selectFault(
  id: string,
  sentence: string,
  draw: (stream: Stream, learning: readonly number[]) => { strength: Strength; agents: (own: number) => number[] },
  struckPolicies: 'policies' | 'all' = 'policies',
): Fault {
  return {
    id,
    cause: 'trained-on-other-agent',
    stage: 'select',
    sentence,
    shows: ['replays.sample'],
    needs: ['separate'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: struckPolicies });
      const { strength, agents } = draw(stream, context.traits.learning);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => ({
          select(batch, learner, rows) {
            if (!scope.begun(iterationOf(batch)) || !scope.learner(learner)) return clean.select(batch, learner, rows);
            return clean.select(batch, { ...learner, agents: learner.agents.flatMap(agents) }, rows);
          },
        }),
      };
    },
  };
}

const selections: readonly Fault[] = [
  selectFault('trained-on-next-agent', "Each policy is updated with another agent's rows.", (stream, learning) => {
    const turn = whole(stream, 1, learning.length - 1);
    const other = turned(learning, turn);
    return { strength: { turn }, agents: (own) => [other(own)] };
  }),
  selectFault(
    'trained-on-first-agent',
    "Every policy is updated with the first agent's rows.",
    (_, learning) => ({ strength: { agent: learning[0] }, agents: () => [learning[0]] }),
    'all',
  ),
  selectFault(
    'trained-on-other-agent-too',
    "A policy is updated with its own rows and another agent's.",
    (stream, learning) => {
      const turn = whole(stream, 1, learning.length - 1);
      const other = turned(learning, turn);
      return { strength: { turn }, agents: (own) => [own, other(own)] };
    },
  ),
];

export const rowFaults: readonly Fault[] = [...phantoms, ...paddings, ...critics, ...selections];
