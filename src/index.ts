/** What `trueline` offers, in Node and in a page: training, evaluation, settings, games and agents. Training into a folder is in `trueline/training/node`. */

export { makeLearner, policyShape } from './agents/learner.ts';
export { type CriticView, centralView, ownView } from './agents/mappo.ts';
export { ValueNormaliser } from './agents/normaliser.ts';
export type { Learner, LearnerRows, TrainJob, UpdatePlan, UpdateStages, UpdateWatch } from './agents/ppo.ts';
export { ppoUpdate } from './agents/ppo.ts';
export type { NetworkSettings, PpoSettings } from './agents/settings.ts';
export * from './games/index.ts';
export { RandomStream } from './math/random.ts';
export { createEngine } from './net/engine.ts';
export type { Engine, EngineOptions, KernelName, Policy, PolicyShape, StepReport } from './net/types.ts';
export { Batch, type BatchShape } from './training/batch.ts';
export { assignCredit } from './training/credit.ts';
export type { AgentReturn } from './training/episodes.ts';
export { type EvaluateOptions, evaluate } from './training/evaluate.ts';
export { Guard, type GuardKind, type GuardMode, GuardStop } from './training/guard.ts';
export { type Probe, probeSchema } from './training/probes.ts';
export { inBand, type Reading, type ReadingName, type Readings, readings } from './training/readings.ts';
export type { RecordingSink } from './training/record.ts';
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
