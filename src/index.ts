/** What `trueline` offers, in Node and in a page: training, evaluation, settings, games and agents. Training into a folder is in `trueline/training/node`. */

export type { Learner } from './algorithms/learner.ts';
export { makeLearner, policyShape } from './algorithms/learner.ts';
export { type CriticView, centralView, ownView } from './algorithms/mappo/critic-view.ts';
export type { NetworkSettings, PpoSettings } from './algorithms/ppo/settings.ts';
export type { LearnerRows, TrainJob, UpdatePlan, UpdateStages, UpdateWatch } from './algorithms/ppo/update.ts';
export { ppoUpdate } from './algorithms/ppo/update.ts';
export { ValueNormaliser } from './algorithms/ppo/value-normaliser.ts';
export { Batch, type BatchShape } from './batch/batch.ts';
export * from './games/index.ts';
export { RandomStream } from './math/random.ts';
export { createEngine } from './net/engine.ts';
export type { Engine, EngineOptions, KernelName, Policy, PolicyShape, StepReport } from './net/types.ts';
export type { AgentReturn } from './training/collect/episodes.ts';
export { type EvaluateOptions, evaluate } from './training/collect/evaluate.ts';
export { assignCredit } from './training/credit/assign-credit.ts';
export { Guard, type GuardKind, type GuardMode, GuardStop } from './training/guard/guard.ts';
export { inBand, type Reading, type ReadingName, type Readings, readings } from './training/record/readings.ts';
export type { RecordingSink } from './training/record/recorder.ts';
export { checkpointSettings, type ProgressReport, type TrainHooks, type TrainResult, train } from './training/run.ts';
export {
  describeSettings,
  readSettings,
  type Settings,
  type SettingsInput,
  settingsJsonSchema,
  settingsSchema,
} from './training/settings.ts';
export { cleanStages, type ReportedStep, type Stages } from './training/stages.ts';
export { type IterationReport, Trainer, type TrainerOptions } from './training/trainer.ts';
export { type Probe, probeSchema } from './training/update/diagnostic-probes.ts';
