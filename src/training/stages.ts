/**
 * The arrows of the flow, each one function with plain data on both sides: game, collect (act, values), arrange, credit, select, prepare,
 * loss, step, hop, report. The trainer only ever calls them through one `Stages` object, and knows no other way for a number to reach a parameter.
 *
 * Whoever wants to study a broken trainer replaces or wraps one of them; the trainer itself holds no switch for it. What is recorded is
 * what left the stages that really ran:
 *
 * - `samples` is the batch after `credit`. `env_reward` is what the game paid, `reward` what was stored beside the action.
 * - `replays` is the job that `loss` returned (candidate list, mask, old_logp, advantage, return, temperature) with the figures that
 *   `step` filled into `job.out`; `again_logp` and `after_logp` come from `evaluate`. `sample` and `source_iteration` are the columns of the
 *   same names in `job.rows`, so rows of another agent or of an earlier iteration show as such.
 * - `steps` is what `report` made of a step, `tensors` what `step` returned, with `job.bound`.
 *
 * Where causes come in: another candidate list, K, mask, temperature, old_logp or noise in the update: `loss` (and `evaluate` for a second
 * pass); a wrong old_logp or sampling temperature: `act`; shifted rewards and phantom or padded rows: `collect`; wrong ends, shifted or
 * crossing credit: `credit`; shuffled, swapped, demeaned or stale advantages, another agent's critic input, values in other units, rows of an
 * earlier iteration: `prepare`; another agent's rows: `select`; a detached policy, a summed or outer-product loss, an optimiser that
 * does not hold a tensor, overwritten parameters: `step`; a metric that lies: `report`; saturated inputs: `game`; modules, logs and imagination
 * of some HOP+ agents only: `hop`, itself a few functions, whose doings show in `counters` and in the imagined rows of `samples`.
 *
 * One thing to know when replacing `loss`: the engine may hold a copy of `job.rows`, so a stage that changes a column returns a job with
 * a new rows object (`{ ...job, rows: { ...job.rows, advantage } }`) and leaves the old arrays alone.
 */
import { cleanHopStages, type HopStages } from '../algorithms/hop/stages.ts';
import type { PpoSettings } from '../algorithms/ppo/settings.ts';
import type { Learner, LearnerRows, TrainJob, UpdateStages } from '../algorithms/ppo/update.ts';
import type { Game } from '../games/game.ts';
import type { ActJob, ActOutputs, DecisionRows, Engine, StepReport } from '../net/types.ts';
import type { Batch } from './batch.ts';
import { type Collector, collect } from './collect/collector.ts';
import type { Decisions } from './collect/decisions.ts';
import { assignCredit } from './credit/assign-credit.ts';
import { prepareRows, selectRows } from './update/learner-rows.ts';

/** A step's figures as the trainer gives them to its user; the recording's `steps` table holds these. */
export interface ReportedStep {
  loss: number;
  policyLoss: number;
  valueLoss: number;
  entropy: number;
  approxKl: number;
  clipFraction: number;
  gradNorm: number;
  policyGradNorm: number;
  valueGradNorm: number;
  learningRate: number;
}

export interface Stages extends UpdateStages {
  /** The game as the run plays it. */
  game(game: Game): Game;
  /** One decision per row: action, log-probability, local logits, and the value in units of the rewards. `uniforms` holds one draw a row. */
  act(
    learner: Learner,
    rows: DecisionRows,
    uniforms: Float32Array,
    out: Required<ActOutputs>,
    temperature: Float32Array,
  ): void;
  /** Values of the critic's inputs, in units of the rewards. */
  values(learner: Learner, state: Float32Array, count: number, out: Float32Array): void;
  /** Plays the game and fills the batch, one row per decision of a learning agent. */
  collect(collector: Collector, batch: Batch): void;
  /** Puts the whole batch into the order (episode, t, agent). */
  arrange(batch: Batch): void;
  /** Fills advantages and returns. */
  credit(batch: Batch, ppo: PpoSettings): void;
  /** Writes the batch rows that a learner is updated with; returns how many. */
  select(batch: Batch, learner: Learner, rows: Int32Array): number;
  /** Makes a learner's rows: ragged candidate lists, normalised advantages, values and returns in the units of its critic. */
  prepare(
    batch: Batch,
    rows: Int32Array,
    count: number,
    learner: Learner,
    ppo: PpoSettings,
    into: LearnerRows,
  ): LearnerRows;
  /** The arrows of HOP+ agents, for runs that have them. */
  hop: HopStages;
  /** What the trainer says about a step. */
  report(job: TrainJob, report: StepReport): ReportedStep;
}

/** What follows a policy's decisions: values in units of the rewards, and the temperature they were made at. */
function decided(learner: Learner, rows: DecisionRows, out: Required<ActOutputs>, temperature: Float32Array): void {
  learner.normaliser.toRewards(out.value, rows.length);
  temperature.fill(1, 0, rows.length);
}

/** The clean `act` of several learners at once; only for a run whose `act` is the clean one. */
export function actTogether(engine: Engine, decisions: readonly Decisions[], jobs: readonly ActJob[]): void {
  engine.act(jobs);
  for (const { learner, rows, out, temperature } of decisions) decided(learner, rows, out, temperature);
}

export const cleanStages: Stages = {
  game: (game) => game,
  act(learner, rows, uniforms, out, temperature) {
    learner.policy.act(rows, uniforms, 1, out);
    decided(learner, rows, out, temperature);
  },
  values(learner, state, count, out) {
    learner.policy.values(state, count, out);
    learner.normaliser.toRewards(out, count);
  },
  collect,
  arrange: (batch) => batch.sort(),
  credit: (batch, ppo) => assignCredit(batch, ppo.gamma, ppo.lambda),
  select: selectRows,
  prepare: prepareRows,
  loss: (job) => job,
  evaluate(job, from, to, out) {
    job.policy.evaluate(job.rows, job.order, from, to, out, job.settings.temperature);
  },
  step: (engine, jobs) => engine.update(jobs),
  hop: cleanHopStages,
  report: (job, report) => ({
    loss: report.loss,
    policyLoss: report.policyLoss,
    valueLoss: report.valueLoss,
    entropy: report.entropy,
    approxKl: report.k3,
    clipFraction: report.clipFraction,
    gradNorm: report.gradNorm,
    policyGradNorm: report.policyGradNorm,
    valueGradNorm: report.valueGradNorm,
    learningRate: job.settings.groups.trunk.learningRate,
  }),
};
