/** What an algorithm is to a run: what its critics see, how its policies are updated, and the crew that accompanies them. The trainer knows no algorithm by name. */
import type { Batch } from '../batch/batch.ts';
import type { Game, GameMaker, GameShape } from '../games/game.ts';
import type { Engine } from '../net/types.ts';
import type { AlgorithmSettings, AlgorithmStages } from './index.ts';
import type { Learner, LearnerPlan, SeatSettings } from './learner.ts';
import type { CriticView } from './mappo/critic-view.ts';
import type { Companion, PlayStages, Table } from './play.ts';
import type { ppoUpdate } from './ppo/update.ts';

export interface Algorithm {
  readonly name: string;
  /** What it does, as a clause that follows its name. */
  readonly meaning: string;
  /** What a critic sees. */
  view(shape: GameShape): CriticView;
  /** From the rows of all learners to their new parameters. */
  readonly update: typeof ppoUpdate;
  /** What accompanies the run beyond policies and critics; null where there is nothing. */
  crew(run: CrewRun): Crew | null;
  /** Whether its agents choose by search, so that what they chose from is not what their policy says. */
  searches(seat: SeatSettings): boolean;
  /** What belongs to one of its learners, in the order of their plans, in what a crew has saved. */
  modelsOf(saved: unknown, position: number): unknown;
}

/** What a crew is made for. */
export interface CrewRun {
  readonly engine: Engine;
  readonly game: Game;
  /** More worlds of the same game. */
  readonly make: GameMaker;
  /** Per agent. */
  readonly names: readonly string[];
  readonly plans: readonly LearnerPlan[];
  /** The settings of the run, with those of the seats that the crew is made for. */
  readonly settings: AlgorithmSettings & { readonly seed: number; readonly worlds: number; readonly deal: boolean };
  readonly stages: AlgorithmStages;
  /** Numbers the crews of a run whose agents learn in different ways. */
  readonly group?: number;
  /** Whether its agents only play. */
  readonly frozen?: boolean;
}

/** Models beside the policies. Hooks come in the order in which an iteration calls them. */
export interface Crew {
  /** Accompanies training; there is one. */
  readonly companion: Companion;
  /** Before an iteration is collected. */
  begin(iteration: number): void;
  /** Adds imagined rows to a batch of real ones, from the policies that collected it. */
  imagine(batch: Batch, learners: readonly Learner[], stages: PlayStages): void;
  /** After the policies were updated, learners in the order given. */
  learn(learners: readonly Learner[], order: readonly number[]): void;
  /** What the learner's value loss used to be, where this one is many times that; it takes the loss into account. */
  blownUp(learner: number, loss: number): number | null;
  /** Per learner: losses and held-out errors by name. */
  readings(): Record<string, number>[];
  /** Per counter: one value for each agent. `rows` holds the real rows of each. */
  counters(learners: readonly Learner[], rows: ArrayLike<number>): Map<string, Float64Array>;
  /** Everything that going on bit for bit needs, as plain data. */
  save(): unknown;
  load(saved: unknown): void;
  /** Takes what `modelsOf` found in another run for one of its own learners: models go from run to run with the policy that they accompany. */
  adopt(learner: number, saved: unknown, iteration: number): void;
  /** Accompanies play that nothing is learnt from: of many worlds, or one decision at a time. */
  playing(game: Game): Companion;
  table(game: Game): Table;
}
