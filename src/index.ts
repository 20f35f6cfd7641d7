/**
 * What `trueline` offers, in Node and in a page: training, settings, games and players. Recordings are in `trueline/recording`, the doctor in
 * `trueline/doctor`, everything about games in `trueline/games`, and what writes to a folder in the `node` entries.
 */

export {
  assertGame,
  checkGame,
  type Game,
  type GameMaker,
  GameRefusal,
  gameNames,
  makeGame,
  makePlayer,
  meanBySeat,
  type Player,
  playEpisodes,
} from './games/index.ts';
export { RandomStream } from './math/random.ts';
export { createEngine } from './net/engine.ts';
export type { Engine } from './net/types.ts';
export type { AgentReturn } from './training/collect/episodes.ts';
export { GuardStop } from './training/guard/guard.ts';
export { readings } from './training/record/readings.ts';
export { type ProgressReport, type TrainHooks, type TrainResult, train } from './training/run.ts';
export {
  describeSettings,
  readSettings,
  type Settings,
  type SettingsInput,
  settingsJsonSchema,
  settingsSchema,
} from './training/settings.ts';
export { cleanStages, type Stages } from './training/stages.ts';
export { Trainer } from './training/trainer.ts';
