/** Faults of the credit pass in time: rewards, ends and returns that belong to another step, and values in other units. */

import type { Learner } from '../../algorithms/learner.ts';
import type { PpoSettings } from '../../algorithms/ppo/settings.ts';
import { ValueNormaliser } from '../../algorithms/ppo/value-normaliser.ts';
import type { Batch } from '../../batch/batch.ts';
import type { Stages } from '../../training/stages.ts';
import { type Fault, magnitude, rounded } from '../fault.ts';
import { changePrepared, iterationOf, laggedRows, nextRows, previousRows, struck, writeCredit } from '../row-order.ts';
import { Scope } from '../scope.ts';
import type { Need } from '../traits.ts';

/** Where credit ends at a row: it goes on; it stops with nothing; it stops with the row's own next value; it takes only the following row's value. */
const goesOn = 0;
const terminates = 1;
const truncates = 2;
const bootstraps = 3;

function ownEnds(batch: Batch): Uint8Array {
  return Uint8Array.from({ length: batch.rows }, (_, row) =>
    batch.terminated[row] === 1 ? terminates : batch.truncated[row] === 1 ? truncates : goesOn,
  );
}

/** Generalised advantages along `next`, with the ends given; only rows that are struck are written. */
function creditAlong(batch: Batch, ppo: PpoSettings, next: Int32Array, ends: Uint8Array, scope: Scope): void {
  const { reward, value, nextValue } = batch;
  const advantage = new Float64Array(batch.rows);
  for (let row = batch.rows - 1; row >= 0; row--) {
    const after = next[row];
    let carried = 0;
    let following = 0;
    if (ends[row] === truncates || (ends[row] !== terminates && after < 0)) following = nextValue[row];
    else if (ends[row] !== terminates) {
      following = value[after];
      if (ends[row] === goesOn) carried = advantage[after];
    }
    advantage[row] = reward[row] + ppo.gamma * following - value[row] + ppo.gamma * ppo.lambda * carried;
  }
  writeCredit(batch, advantage, scope);
}

function endsFault(
  id: string,
  cause: string,
  sentence: string,
  within: 'episode' | 'world',
  move: (ends: Uint8Array, next: Int32Array) => Uint8Array,
  needs: readonly Need[] = ['ends'],
): Fault {
  return {
    id,
    cause,
    stage: 'credit',
    sentence,
    shows: ['samples.advantage', 'samples.return'],
    needs,
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      return {
        strength: scope.strength,
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            if (!scope.begun(iterationOf(batch))) return;
            const next = nextRows(batch, within);
            creditAlong(batch, ppo, next, move(ownEnds(batch), next), scope);
          },
        }),
      };
    },
  };
}

/** Each row gets the end of the row that `from` names. */
const moved = (ends: Uint8Array, from: Int32Array) => ends.map((_, row) => (from[row] >= 0 ? ends[from[row]] : goesOn));

const ends: readonly Fault[] = [
  endsFault(
    'done-early',
    'done-time-shifted',
    "The credit pass reads each row's end from the row after it.",
    'world',
    (own, next) => moved(own, next),
  ),
  endsFault(
    'done-late',
    'done-time-shifted',
    "The credit pass reads each row's end from the row before it.",
    'world',
    (own, next) => moved(own, previousRows(next)),
  ),
  endsFault(
    'return-crosses-episodes',
    'return-crosses-episodes',
    "The credit pass does not look at ends, so an episode is paid for the next one's rewards.",
    'world',
    (own) => own.map(() => goesOn),
  ),
  endsFault(
    'value-crosses-episodes',
    'return-crosses-episodes',
    "At an end the credit pass takes the value of the next episode's first state.",
    'world',
    (own) => own.map((end) => (end === goesOn ? goesOn : bootstraps)),
  ),
  endsFault(
    'truncation-as-termination',
    'truncation-treated-as-termination',
    'A time limit is treated like a real end: nothing is expected to follow.',
    'episode',
    (own) => own.map((end) => (end === truncates ? terminates : end)),
    ['truncation'],
  ),
];

/** Rewards are stored along the rows of an agent, one place off; what the game paid stays where it was. */
function rewardFault(id: string, sentence: string, lag: 1 | -1, within: 'episode' | 'world'): Fault {
  return {
    id,
    cause: 'reward-time-shifted',
    stage: 'collect',
    sentence,
    shows: ['samples.reward', 'samples.advantage'],
    needs: ['several-steps'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      // What the last row of a rollout was paid is stored at the first row of the next one.
      const pending = new Map<string, number>();
      return {
        strength: { ...scope.strength, lag },
        stages: (clean) => ({
          collect(collector, batch) {
            const { iteration } = collector;
            clean.collect(collector, batch);
            const next = nextRows(batch, within);
            const source = laggedRows(next, lag);
            const line = within === 'episode' ? batch.episode : batch.env;
            const before = new Map(pending);
            pending.clear();
            for (let row = 0; row < batch.rows; row++) {
              const key = `${line[row]} ${batch.agent[row]}`;
              if (lag > 0 && next[row] < 0) pending.set(key, batch.envReward[row]);
              if (!scope.begun(iteration) || !scope.agent(batch.agent[row])) continue;
              const left = lag > 0 ? (before.get(key) ?? 0) : 0;
              batch.reward[row] = source[row] >= 0 ? batch.envReward[source[row]] : left;
            }
          },
        }),
      };
    },
  };
}

const rewards: readonly Fault[] = [
  rewardFault('reward-late', 'Each reward is stored at the action after the one that earned it.', 1, 'episode'),
  rewardFault('reward-early', 'Each reward is stored at the action before the one that earned it.', -1, 'episode'),
  rewardFault(
    'reward-late-across-episodes',
    'Each reward is stored at the next row of the world, even where that begins another episode.',
    1,
    'world',
  ),
];

function returnFault(
  id: string,
  sentence: string,
  change: (batch: Batch, row: number, earlier: Float32Array | null) => void,
  shows: readonly string[],
  needs?: readonly Need[],
): Fault {
  return {
    id,
    cause: 'return-inconsistent',
    stage: 'credit',
    sentence,
    shows,
    ...(needs ? { needs } : {}),
    make(stream, context) {
      const scope = Scope.draw(stream, context, { share: 0.5 });
      let earlier: Float32Array | null = null;
      return {
        strength: scope.strength,
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            const own = batch.advantage.slice(0, batch.rows);
            for (let row = 0; row < batch.rows; row++) if (struck(batch, row, scope)) change(batch, row, earlier);
            earlier = own;
          },
        }),
      };
    },
  };
}

const returns: readonly Fault[] = [
  returnFault(
    'return-without-value',
    'The value is not added back, so the critic learns the advantage.',
    (batch, row) => {
      batch.return[row] = batch.advantage[row];
    },
    ['samples.return', 'replays.return'],
  ),
  returnFault(
    'return-from-next-value',
    'The return is made with the value of the state that followed.',
    (batch, row) => {
      batch.return[row] = batch.advantage[row] + batch.nextValue[row];
    },
    ['samples.return', 'replays.return'],
  ),
  returnFault(
    'advantage-of-last-iteration',
    'The advantages are those that the iteration before computed for the same places of the buffer.',
    (batch, row, earlier) => {
      if (earlier && row < earlier.length) batch.advantage[row] = earlier[row];
    },
    ['samples.advantage', 'replays.advantage'],
    ['several-iterations'],
  ),
];

/** The stages that bring a critic's word into the units of the rewards. */
function valueStages(
  clean: Stages,
  seen: (learner: Learner) => Learner,
  after: (values: Float32Array, n: number) => void,
) {
  return {
    act(engine, asked) {
      clean.act(
        engine,
        asked.map((own) => ({ ...own, learner: seen(own.learner) })),
      );
      for (const { learner, rows, out } of asked) if (seen(learner) !== learner) after(out.value, rows.length);
    },
    values(learner, state, count, out) {
      clean.values(seen(learner), state, count, out);
      if (seen(learner) !== learner) after(out, count);
    },
  } satisfies Partial<Stages>;
}

const scales: readonly Fault[] = [
  {
    id: 'values-left-normalised',
    cause: 'value-scale-mismatch',
    stage: 'values',
    sentence: "The critic's normalised values are set against raw rewards.",
    shows: ['samples.value', 'samples.advantage'],
    needs: ['several-iterations'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const normaliser = new ValueNormaliser(false);
      const seen = (learner: Learner) => (scope.learner(learner) ? { ...learner, normaliser } : learner);
      return {
        strength: scope.strength,
        settings: { ppo: { valueNormalisation: true } },
        stages: (clean) => valueStages(clean, seen, () => {}),
      };
    },
  },
  {
    id: 'values-in-other-units',
    cause: 'value-scale-mismatch',
    stage: 'values',
    sentence: "The critic's values are multiplied on their way out, as if rewards had another scale.",
    shows: ['samples.value', 'samples.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const factor = rounded(stream.uniform() < 0.5 ? magnitude(stream, 3, 20) : magnitude(stream, 0.05, 0.3));
      const seen = (learner: Learner) => (scope.learner(learner) ? { ...learner } : learner);
      return {
        strength: { ...scope.strength, factor },
        stages: (clean) =>
          valueStages(clean, seen, (values, count) => {
            for (let i = 0; i < count; i++) values[i] *= factor;
          }),
      };
    },
  },
  {
    id: 'targets-left-raw',
    cause: 'value-scale-mismatch',
    stage: 'prepare',
    sentence: 'The critic learns raw returns, and its word is still scaled up as if it had learnt normalised ones.',
    shows: ['replays.return', 'steps.value_loss'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      return {
        strength: scope.strength,
        settings: { ppo: { valueNormalisation: true } },
        stages: (clean) =>
          changePrepared(clean, scope, (made, { batch, rows }) => ({
            return: Float32Array.from({ length: made.length }, (_, row) => batch.return[rows[row]]),
          })),
      };
    },
  },
];

export const endsFaults: readonly Fault[] = [...rewards, ...ends, ...returns, ...scales];
