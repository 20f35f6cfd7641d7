/** What a search is asked for, and what it asks in turn: how the others move, and what the one who searches infers on the way. */
import type { Game } from '../../games/game.ts';
import type { RandomStream } from '../../math/random.ts';
import type { Learner } from '../learner.ts';
import type { SearchNotes } from './notes.ts';

/** How the others move: rows are put, all are asked about at once, and moves are drawn in the order of the rows. */
export interface OthersModel {
  begin(rows: number): void;
  /** Row i: what the other sees, its goal, and who it is. `at` is where that begins in the observations of the worlds that are searched in. */
  put(i: number, obs: Float32Array, at: number, goal: number, other: number): void;
  forward(rows: number): void;
  draw(i: number, legal: ArrayLike<number>, at: number, uniform: number): number;
  /** Of the row that was drawn from last. */
  readonly probabilities: Float64Array;
}

/** What the one who searches infers at every node, where its policy sees more than the observation. */
export interface SearchMind {
  /** A tree begins with what the one at `place` remembers. */
  root(node: number, place: number): void;
  /** Everybody has chosen in node `from`, which leads to `into`. */
  follow(sim: Game, from: number, into: number, seat: number, actions: Int32Array): void;
  /** Fills what follows the observation in the inputs of the policy, `stride` values each, for nodes as `seats` see them. */
  extend(sim: Game, nodes: Int32Array, seats: Int32Array, count: number, inputs: Float32Array, stride: number): void;
}

/** Moves to be found, all of one learner. */
export interface SearchOrder {
  readonly game: Game;
  readonly places: ArrayLike<number>;
  readonly count: number;
  /** Whose policy and critic judge the states, and the seat through whose eyes. */
  readonly learner: Learner;
  eyes(place: number): number;
  /** How the others play; null has them choose at random. */
  readonly model: OthersModel | null;
  readonly mind?: SearchMind;
  readonly gamma: number;
  /** A goal of the player in another seat, drawn from what the one at `place` believes. */
  drawGoal(place: number, seat: number, uniform: number): number;
  agentAt(place: number): number;
  /** The search's own stream of a place. */
  stream(place: number): RandomStream;
  /** Per place and action: the mean value over all trees, in units of the rewards; minus infinity where it is illegal. */
  readonly values: Float64Array;
  /** What the first tree of every place went by, where it is to be recorded. */
  readonly notes?: SearchNotes;
}
