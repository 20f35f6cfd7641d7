/** Faults that give a row an advantage that is not its own: shuffled, shifted in time, taken from another agent. */
import type { LearnerRows, TrainJob } from '../../algorithms/ppo/update.ts';
import { type Fault, type FaultContext, type Strength, whole } from '../fault.ts';
import {
  changePrepared,
  copied,
  gathered,
  iterationOf,
  laggedRows,
  nextRows,
  type Prepared,
  preparedRowOf,
  preparedStruck,
  rowsOfOther,
  turned,
  withColumns,
} from '../row-order.ts';
import { Scope, type ScopeOptions } from '../scope.ts';
import type { Need } from '../traits.ts';

type Stream = Parameters<Fault['make']>[0];

/** Row i of the result is what row `source[i]` holds; -1 keeps its own. */
function rearranged(made: LearnerRows, source: ArrayLike<number>, scope: Scope): Partial<LearnerRows> {
  const advantage = copied(made.advantage, made.length);
  for (let row = 0; row < made.length; row++)
    if (source[row] >= 0 && preparedStruck(made, row, scope)) advantage[row] = made.advantage[source[row]];
  return { advantage };
}

interface PairingFault {
  id: string;
  cause: string;
  sentence: string;
  needs?: readonly Need[];
  scope?: ScopeOptions;
  draw: (
    stream: Stream,
    context: FaultContext,
  ) => { strength?: Strength; source: (made: LearnerRows, from: Prepared) => ArrayLike<number> };
}

/** Advantages, normalised as they should be, are handed to other rows of the same policy. */
function pairingFault(of: PairingFault): Fault {
  const { id, cause, sentence, needs } = of;
  return {
    id,
    cause,
    stage: 'prepare',
    sentence,
    shows: ['replays.advantage'],
    ...(needs ? { needs } : {}),
    make(stream, context) {
      const scope = Scope.draw(stream, context, of.scope);
      const { strength = {}, source } = of.draw(stream, context);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => changePrepared(clean, scope, (made, from) => rearranged(made, source(made, from), scope)),
      };
    },
  };
}

const range = (length: number) => Int32Array.from({ length }, (_, i) => i);

/** Rows of one agent keep to themselves, so that normalising per agent stays what it was. */
function shuffledWithinAgents(made: LearnerRows, stream: Stream): Int32Array {
  const source = range(made.length);
  for (const agent of new Set(made.agent.subarray(0, made.length))) {
    const own = source.filter((row) => made.agent[row] === agent);
    const drawn = stream.shuffle(own.slice());
    own.forEach((row, i) => {
      source[row] = drawn[i];
    });
  }
  return source;
}

/** Advantages along the minibatch, changed in every step. */
function inMinibatch(id: string, sentence: string, source: (job: TrainJob, stream: Stream) => Int32Array): Fault {
  return {
    id,
    cause: 'advantage-shuffled',
    stage: 'loss',
    sentence,
    shows: ['replays.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      return {
        strength: scope.strength,
        stages: (clean) => ({
          loss(job) {
            const made = clean.loss(job);
            if (!scope.begun(job.iteration) || !scope.learner(job.learner)) return made;
            const from = source(made, stream);
            const advantage = made.rows.advantage.slice();
            for (let i = made.from; i < made.to; i++)
              advantage[made.order[i]] = made.rows.advantage[from[i - made.from]];
            return { ...made, rows: { ...made.rows, advantage } };
          },
        }),
      };
    },
  };
}

const shuffled: readonly Fault[] = [
  pairingFault({
    id: 'advantage-shuffled-batch',
    cause: 'advantage-shuffled',
    sentence: 'Advantages are put into another order than the rows they belong to, once per update.',
    draw: (stream) => ({ source: (made) => shuffledWithinAgents(made, stream) }),
  }),
  inMinibatch(
    'advantage-shuffled-minibatch',
    'Within each minibatch advantages are shuffled and log-probabilities are not.',
    (job, stream) => stream.shuffle(job.order.slice(job.from, job.to)),
  ),
  inMinibatch(
    'advantage-in-storage-order',
    "A minibatch's advantages are read in storage order while its other columns follow the shuffled one.",
    (job) => Int32Array.from({ length: job.to - job.from }, (_, i) => job.from + i),
  ),
];

/** The rows of the batch as rows of the prepared ones. */
function lagSource(lag: number, within: 'episode' | 'world') {
  return (made: LearnerRows, from: Prepared) => {
    const lagged = laggedRows(nextRows(from.batch, within), lag);
    const place = preparedRowOf(from);
    return Int32Array.from({ length: made.length }, (_, i) =>
      lagged[from.rows[i]] < 0 ? -1 : place[lagged[from.rows[i]]],
    );
  };
}

const late = 'the advantage of the decision before it';
const early = 'the advantage of the decision after it';

const shifted: readonly Fault[] = [
  pairingFault({
    id: 'advantage-late',
    cause: 'advantage-time-shifted',
    sentence: `Each row of an episode uses ${late}.`,
    needs: ['several-steps'],
    draw: () => ({ strength: { lag: 1 }, source: lagSource(1, 'episode') }),
  }),
  pairingFault({
    id: 'advantage-early',
    cause: 'advantage-time-shifted',
    sentence: `Each row of an episode uses ${early}.`,
    needs: ['several-steps'],
    draw: () => ({ strength: { lag: -1 }, source: lagSource(-1, 'episode') }),
  }),
  pairingFault({
    id: 'advantage-lagged',
    cause: 'advantage-time-shifted',
    sentence: 'Each row of an episode uses the advantage of a decision several steps away.',
    needs: ['several-steps'],
    draw: (stream, { traits }) => {
      const most = Math.max(1, Math.min(4, traits.horizon - 1));
      const lag = whole(stream, Math.min(2, most), most) * (stream.uniform() < 0.5 ? 1 : -1);
      return { strength: { lag }, source: lagSource(lag, 'episode') };
    },
  }),
  pairingFault({
    id: 'advantage-rolled',
    cause: 'advantage-time-shifted',
    sentence: 'Advantages are rolled along the rows of each world and agent, across the ends of episodes.',
    draw: (stream) => {
      const lag = stream.uniform() < 0.5 ? 1 : -1;
      return { strength: { lag }, source: lagSource(lag, 'world') };
    },
  }),
  {
    id: 'advantage-late-stored',
    cause: 'advantage-time-shifted',
    stage: 'credit',
    sentence: 'The credit pass writes each advantage, and the return that goes with it, one decision off.',
    shows: ['samples.advantage', 'replays.advantage'],
    needs: ['several-steps'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      const lag = stream.uniform() < 0.5 ? 1 : -1;
      return {
        strength: { ...scope.strength, lag },
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            if (!scope.begun(iterationOf(batch))) return;
            const source = laggedRows(nextRows(batch, 'episode'), lag);
            batch.advantage.set(gathered(batch.advantage, source, batch, scope));
            for (let row = 0; row < batch.rows; row++) batch.return[row] = batch.advantage[row] + batch.value[row];
          },
        }),
      };
    },
  },
];

/** Advantages of other agents, before they are normalised among the rows that use them. */
function otherAgentFault(
  id: string,
  sentence: string,
  draw: (stream: Stream, learning: readonly number[]) => { strength: Strength; other: (agent: number) => number },
): Fault {
  return {
    id,
    cause: 'advantage-agent-swapped',
    stage: 'prepare',
    sentence,
    shows: ['replays.advantage'],
    needs: ['together'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'all' });
      const { strength, other } = draw(stream, context.traits.learning);
      return {
        strength: { ...scope.strength, ...strength },
        stages: (clean) => ({
          prepare(batch, rows, count, learner, ppo, into) {
            const run = () => clean.prepare(batch, rows, count, learner, ppo, into);
            if (!scope.begun(iterationOf(batch))) return run();
            const advantage = gathered(batch.advantage, rowsOfOther(batch, other), batch, scope);
            return withColumns(batch, { advantage }, run);
          },
        }),
      };
    },
  };
}

const swapped: readonly Fault[] = [
  otherAgentFault(
    'advantage-of-next-agent',
    "Each agent uses another agent's advantage of the same step.",
    (stream, learning) => {
      const turn = whole(stream, 1, learning.length - 1);
      return { strength: { turn }, other: turned(learning, turn) };
    },
  ),
  otherAgentFault(
    'advantage-of-pair-swapped',
    "Two agents use each other's advantages; the rest use their own.",
    (stream, learning) => {
      const first = stream.below(learning.length);
      const second = (first + whole(stream, 1, learning.length - 1)) % learning.length;
      const pair = [learning[first], learning[second]];
      return {
        strength: { pair: pair.join(' ') },
        other: (agent) => (agent === pair[0] ? pair[1] : agent === pair[1] ? pair[0] : agent),
      };
    },
  ),
  otherAgentFault('advantage-of-first-agent', "Every agent uses one agent's advantages.", (stream, learning) => {
    const one = learning[stream.below(learning.length)];
    return { strength: { agent: one }, other: () => one };
  }),
];

export const pairingFaults: readonly Fault[] = [...shuffled, ...shifted, ...swapped];
