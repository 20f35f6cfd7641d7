/** Faults of what an advantage is: its sign, its mean in a group, its spread. */
import type { LearnerRows, TrainJob } from '../../algorithms/ppo/update.ts';
import type { Batch } from '../../batch/batch.ts';
import { between, type Fault, magnitude, rounded, type SettingsChange, whole } from '../fault.ts';
import { wrapGame } from '../games.ts';
import { changePrepared, copied, type Prepared, preparedStruck, struck } from '../row-order.ts';
import { Scope } from '../scope.ts';
import { clippedTerm, replaceSurrogate } from '../surrogate.ts';

type Stream = Parameters<Fault['make']>[0];

/** A fault that turns the advantages of an update into others. */
function advantageFault(
  of: Pick<Fault, 'id' | 'cause' | 'sentence' | 'needs'>,
  draw: (stream: Stream) => {
    strength?: Record<string, number>;
    change: (advantage: Float32Array, made: LearnerRows, from: Prepared, scope: Scope) => void;
  },
  share?: number,
  settings?: SettingsChange,
): Fault {
  return {
    ...of,
    stage: 'prepare',
    shows: ['replays.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, share === undefined ? { agents: 'policies' } : { share });
      const { strength = {}, change } = draw(stream);
      return {
        strength: { ...scope.strength, ...strength },
        ...(settings ? { settings } : {}),
        stages: (clean) =>
          changePrepared(clean, scope, (made, from) => {
            const advantage = copied(made.advantage, made.length);
            change(advantage, made, from, scope);
            return { advantage };
          }),
      };
    },
  };
}

const signs: readonly Fault[] = [
  {
    id: 'loss-sign-flipped',
    cause: 'advantage-sign-flipped',
    stage: 'step',
    sentence: 'The minus sign of the policy loss is missing, so every step makes what paid less likely.',
    shows: ['steps.policy_loss', 'replays.after_logp'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies' });
      const strikes = (job: TrainJob) => scope.begun(job.iteration) && scope.learner(job.learner);
      return {
        strength: scope.strength,
        stages: (clean) => ({
          step: replaceSurrogate(clean, strikes, ({ ratios, advantages, clip }) => {
            let sum = 0;
            for (let i = 0; i < ratios.length; i++) sum += clippedTerm(ratios[i], advantages[i], clip);
            return {
              // Where the bounded term is the smaller one it is a constant.
              push: (i) =>
                clippedTerm(ratios[i], advantages[i], clip) < ratios[i] * advantages[i] ? 0 : -advantages[i],
              loss: sum / ratios.length,
            };
          }),
        }),
      };
    },
  },
  advantageFault(
    {
      id: 'advantage-negated',
      cause: 'advantage-sign-flipped',
      sentence: 'The advantage is value minus return in place of return minus value.',
    },
    () => ({
      change: (advantage) => {
        for (let row = 0; row < advantage.length; row++) advantage[row] = -advantage[row];
      },
    }),
  ),
];

/** Takes the mean of each group away, among rows that are struck. */
function demean(advantage: Float32Array, made: LearnerRows, scope: Scope, group: (row: number) => number): void {
  const sums = new Map<number, { sum: number; rows: number[] }>();
  for (let row = 0; row < made.length; row++) {
    if (!preparedStruck(made, row, scope)) continue;
    const own = sums.get(group(row)) ?? { sum: 0, rows: [] };
    sums.set(group(row), own);
    own.sum += advantage[row];
    own.rows.push(row);
  }
  for (const { sum, rows } of sums.values()) for (const row of rows) advantage[row] -= sum / rows.length;
}

const chosenId = (made: LearnerRows, row: number) => made.subset[made.offsets[row] + made.action[row]];

const demeaned: readonly Fault[] = [
  advantageFault(
    {
      id: 'advantage-demeaned-by-action',
      cause: 'advantage-group-demeaned',
      sentence: 'The mean advantage of each global action is subtracted from its rows.',
    },
    () => ({
      change: (advantage, made, _, scope) => demean(advantage, made, scope, (row) => chosenId(made, row)),
    }),
  ),
  advantageFault(
    {
      id: 'advantage-demeaned-by-place',
      cause: 'advantage-group-demeaned',
      sentence: 'The mean advantage of each place in the candidate list is subtracted from the rows that chose it.',
    },
    () => ({ change: (advantage, made, _, scope) => demean(advantage, made, scope, (row) => made.action[row]) }),
  ),
];

/** The label is written into the batch, so that the recording shows it as the trainer's own. */
const demeanedByGroup: Fault = {
  id: 'advantage-demeaned-by-group',
  cause: 'advantage-group-demeaned',
  stage: 'prepare',
  sentence:
    'Rows are labelled by the kind of thing that was chosen, and the mean advantage of each kind is subtracted.',
  shows: ['samples.group', 'replays.advantage'],
  make(stream, context) {
    const scope = Scope.draw(stream, context);
    const kinds = whole(stream, 2, 4);
    const label = (batch: Batch) => {
      for (let row = 0; row < batch.rows; row++)
        batch.group[row] = batch.subset[batch.first[row] + batch.action[row]] % kinds;
    };
    return {
      strength: { ...scope.strength, kinds },
      stages: (clean) => ({
        credit(batch, ppo) {
          clean.credit(batch, ppo);
          label(batch);
        },
        ...changePrepared(clean, scope, (made, { batch, rows }) => {
          const advantage = copied(made.advantage, made.length);
          demean(advantage, made, scope, (row) => batch.group[rows[row]]);
          return { advantage };
        }),
      }),
    };
  },
};

const degenerate: readonly Fault[] = [
  {
    id: 'advantage-zero',
    cause: 'advantage-degenerate',
    stage: 'credit',
    sentence: 'The return is subtracted from itself, so every advantage is 0.',
    shows: ['samples.advantage', 'replays.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context);
      return {
        strength: scope.strength,
        stages: (clean) => ({
          credit(batch, ppo) {
            clean.credit(batch, ppo);
            for (let row = 0; row < batch.rows; row++) if (struck(batch, row, scope)) batch.advantage[row] = 0;
          },
        }),
      };
    },
  },
  advantageFault(
    {
      id: 'advantage-constant',
      cause: 'advantage-degenerate',
      sentence: 'Every row gets the same advantage.',
    },
    (stream) => {
      const value = rounded(between(stream, 0.5, 2));
      return { strength: { value }, change: (advantage) => advantage.fill(value) };
    },
  ),
  advantageFault(
    {
      id: 'advantage-one-sign',
      cause: 'advantage-degenerate',
      sentence: 'No baseline is subtracted, so that all advantages are far on one side of 0.',
    },
    (stream) => {
      const margin = rounded(between(stream, 3, 10));
      const sign = stream.uniform() < 0.5 ? 1 : -1;
      return {
        strength: { margin: sign * margin },
        change: (advantage) => {
          const lowest = sign * advantage.reduce((least, value) => Math.min(least, sign * value), Infinity);
          for (let row = 0; row < advantage.length; row++) advantage[row] += sign * margin - lowest;
        },
      };
    },
    undefined,
    // Normalising each minibatch later would take the margin away again.
    { ppo: { advantageNormalisation: 'batch' } },
  ),
];

/** Advantages as the credit pass left them, whatever normalisation is declared. */
function rawAdvantages(id: string, sentence: string, centred: boolean, rewardScale: boolean): Fault {
  return {
    id,
    cause: 'advantage-not-normalised',
    stage: 'prepare',
    sentence,
    shows: ['replays.advantage'],
    make(stream, context) {
      const scope = Scope.draw(stream, context, { agents: 'policies', onset: false });
      const scale = rewardScale ? rounded(magnitude(stream, 30, 300)) : 1;
      const raw = new Map<number, Float32Array>();
      return {
        strength: { ...scope.strength, scale },
        ...(context.settings.ppo.advantageNormalisation === 'none'
          ? { settings: { ppo: { advantageNormalisation: 'batch' as const } } }
          : {}),
        stages: (clean) => ({
          game: (game) => {
            const inner = clean.game(game);
            return scale === 1 ? inner : wrapGame(inner, { reward: (reward) => reward * scale });
          },
          ...changePrepared(clean, scope, (made, { batch, rows, learner }) => {
            const advantage = Float32Array.from({ length: made.length }, (_, row) => batch.advantage[rows[row]]);
            if (centred) {
              const mean = advantage.reduce((sum, value) => sum + value, 0) / advantage.length;
              for (let row = 0; row < advantage.length; row++) advantage[row] -= mean;
            }
            raw.set(learner.index, advantage);
            return { advantage };
          }),
          // Where a minibatch is normalised by itself that happens after `prepare`, and is undone here.
          loss(job) {
            const made = clean.loss(job);
            const advantage = raw.get(job.learner.index);
            return advantage && scope.learner(job.learner) ? { ...made, rows: { ...made.rows, advantage } } : made;
          },
        }),
      };
    },
  };
}

const unnormalised: readonly Fault[] = [
  rawAdvantages(
    'advantage-raw-large-rewards',
    'Advantages are not normalised although that is declared, and rewards are large.',
    false,
    true,
  ),
  rawAdvantages(
    'advantage-centred-only',
    'Advantages lose their mean and keep their spread, with large rewards.',
    true,
    true,
  ),
];

export const sizeFaults: readonly Fault[] = [...signs, ...demeaned, demeanedByGroup, ...degenerate, ...unnormalised];
