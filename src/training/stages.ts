/**
 * The arrows of the flow, each one function with plain data on both sides: game, collect (act, values), imagine (act, values), arrange, calibrate,
 * credit, select, prepare, loss, step, report, and those of one algorithm alone. The trainer only ever calls them through one `Stages` object, and
 * knows no other way for a number to reach a parameter. A batch can be written in a stage and nowhere else (flow.ts).
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
 * One thing to know when replacing `loss`: all minibatches share `job.rows`, so a stage that changes a column returns a job with a new rows
 * object (`{ ...job, rows: { ...job.rows, advantage } }`) and leaves the old arrays alone. The columns may be shared memory that the next
 * iteration writes again: what a stage keeps, it copies with `slice`; a structured clone would not copy it.
 */
import type { Crew } from '../algorithms/algorithm.ts';
import { type AlgorithmStages, cleanAlgorithmStages } from '../algorithms/index.ts';
import type { Learner } from '../algorithms/learner.ts';
import type { PlayStages } from '../algorithms/play.ts';
import type { PpoSettings } from '../algorithms/ppo/settings.ts';
import type { LearnerRows, TrainJob, UpdateStages } from '../algorithms/ppo/update.ts';
import type { Batch } from '../batch/batch.ts';
import type { Game } from '../games/game.ts';
import type { StepReport } from '../net/types.ts';
import { type Collector, collect } from './collect/collector.ts';
import { assignCredit } from './credit/assign-credit.ts';
import { calibrateValues, prepareRows, selectRows } from './update/learner-rows.ts';

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

/**
 * The functions that every number of a run passes through, one per step from the game to the optimiser. Replace one to see what it does; a fault of the zoo is such a replacement.
 *
 * @example
 * const silent: Partial<Stages> = { report: (job, report) => ({ ...cleanStages.report(job, report), entropy: 0 }) };
 * await train({ game: 'echo' }, { stages: silent });
 */
export interface Stages extends PlayStages, UpdateStages, AlgorithmStages {
  /** The game as the run plays it. */
  game(game: Game): Game;
  /** Plays the game and fills the batch, one row per decision of a learning agent. */
  collect(collector: Collector, batch: Batch): void;
  /** Adds imagined rows, where the run has a crew that imagines; `stages` are those of the run. */
  imagine(crew: Crew, batch: Batch, learners: readonly Learner[], stages: PlayStages): void;
  /** Puts the whole batch into the order (episode, t, agent). */
  arrange(batch: Batch): void;
  /** Brings the values of a first batch into the units of the rewards, which nobody knew before. */
  calibrate(batch: Batch, learners: readonly Learner[], ppo: PpoSettings): void;
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
  /** What the trainer says about a step. */
  report(job: TrainJob, report: StepReport): ReportedStep;
}

/**
 * The stages of a healthy run.
 *
 * @example
 * const stages: Stages = { ...cleanStages, report: (job, report) => cleanStages.report(job, report) };
 */
export const cleanStages: Stages = {
  game: (game) => game,
  act(engine, asked) {
    engine.act(asked);
    for (const { learner, rows, out, temperatures } of asked) {
      learner.normaliser.toRewards(out.value, rows.length);
      temperatures.fill(1, 0, rows.length);
    }
  },
  values(learner, state, count, out) {
    learner.policy.values(state, count, out);
    learner.normaliser.toRewards(out, count);
  },
  collect,
  imagine: (crew, batch, learners, stages) => crew.imagine(batch, learners, stages),
  arrange: (batch) => batch.sort(),
  calibrate: (batch, learners, ppo) => {
    for (const learner of learners) calibrateValues(batch, learner, ppo.gamma);
  },
  credit: (batch, ppo) => assignCredit(batch, ppo.gamma, ppo.lambda),
  select: selectRows,
  prepare: prepareRows,
  loss: (job) => job,
  evaluate(job, from, to, out) {
    job.policy.evaluate(job.rows, job.order, from, to, out, job.settings.temperature);
  },
  step: (engine, jobs) => engine.update(jobs),
  ...cleanAlgorithmStages,
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
