/** The game interface: many parallel worlds over typed arrays. Seats are physical places in a world; who sits there is the trainer's business. */
import type { Actions } from '../distributions/distribution.ts';
import type { RandomStream } from '../math/random.ts';

export interface GameShape {
  /** Physical places in one world. */
  readonly seats: number;
  /** Names of the seats where they are different roles (IND, EDU); absent where every seat is alike. */
  readonly roles?: readonly string[];
  /** Length of one seat's observation vector. */
  readonly observation: number;
  /** Length of the joint state vector that a central critic sees, before it is told which seat it judges. */
  readonly state: number;
  /** Size of the global action set; candidate ids lie in [0, actions). */
  readonly actions: number;
  /** The most candidates that one decision can have. */
  readonly candidates: number;
  /** Length of one candidate's feature vector; 0 where candidates are known by their id alone. */
  readonly features: number;
  /** The most decisions that one seat takes in one episode. */
  readonly horizon: number;
}

/**
 * A place is `world * seats + seat`. `reset` and `step` fill every output array for the worlds they touch.
 *
 * A world is stepped only with the decisions of the places whose `acting` is 1. A place that is not acting takes no decision and
 * makes no row; its action is ignored. `reward` is what the step paid to the place, and belongs to that place's latest decision, even
 * when another player's move brought it about. `terminated` and `truncated` say that the episode ended for the place in this step;
 * after that it never acts and is never paid again. `over` says that it has ended for every place: the world is not stepped again
 * before `reset`. At an end the observation is that of the state after the last step, so that a truncation can be bootstrapped.
 *
 * @example
 * const game: Game = makeGame('echo', { seats: 2 }, 8);
 * console.log(game.shape.seats, game.worlds);
 */
export interface Game {
  readonly name: string;
  /** The settings it was made with, as plain data. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly shape: GameShape;
  readonly worlds: number;
  /** The most that an agent earns on average without the help of another, where the game can say: whoever earns more cooperates. */
  readonly alone?: number;

  /** Per place. */
  readonly acting: Uint8Array;
  readonly obs: Float32Array;
  /** How many candidates the place chooses among now. */
  readonly numActions: Int32Array;
  /** Global ids in the order in which they are scored; `shape.candidates` per place, the first `count` of them in use. */
  readonly subset: Int32Array;
  /** 1 where the candidate is legal; laid out like `candidates`. At least one is legal for an acting place. */
  readonly legal: Uint8Array;
  /** `shape.features` values per candidate; laid out like `candidates`. */
  readonly candidateFeatures: Float32Array;
  readonly reward: Float32Array;
  readonly terminated: Uint8Array;
  readonly truncated: Uint8Array;

  /** Per world. */
  readonly state: Float32Array;
  readonly over: Uint8Array;

  /**
   * Set to false where every player looks at its list alone: from then on `reset` and `step` may leave `observation`, `features` and `state` as
   * they are, and whatever else only players with open eyes read. Absent where showing costs nothing worth saving.
   */
  showing?: boolean;

  /** Starts a new episode in one world. The world keeps the stream and draws all its chances from it. */
  reset(world: number, stream: RandomStream): void;
  /** Steps every world that is not over. `actions` holds, per place, an index into its candidates; only acting places are read. */
  step(actions: Actions): void;

  /** Everything that a world is, its stream included, as numbers; `load` goes on from there bit for bit. */
  save(world: number): number[];
  load(world: number, saved: readonly number[]): void;

  /** Makes world `into` what `world` of a game of the same settings is, outputs and all, much quicker than save and load; needed by those who try moves out. */
  take?(from: Game, world: number, into: number): void;

  /**
   * Only where every seat is alike: moves the players of a world so that seat i becomes what seat `permutation[i]` was, with their
   * random draws to come, and refreshes the outputs. The checker uses it: every outcome must move in the same way, exactly.
   */
  relabel?(world: number, permutation: readonly number[]): void;
  /** Only with `relabel`: how one seat's observation reads when the others are numbered anew; used by the checker and by models of other players. */
  relabelObservation?(observation: Float32Array, seat: number, permutation: readonly number[]): Float32Array;

  /** Only where the observation is made of planes: one per player as the seat sees them, one per kind of thing, one of obstacles, one of who is still there. */
  readonly planes?: {
    readonly width: number;
    readonly height: number;
    readonly players: number;
    readonly kinds: number;
  };

  /** Only where players pursue goals that can be told from the rules: their names, and per place which was reached in the latest step, or -1. */
  readonly goals?: readonly string[];
  readonly goal?: Int8Array;
  /** Only where chance goes on after the start: from now on the world draws from this stream, so that whoever tries moves out cannot foresee it. */
  redraw?(world: number, stream: RandomStream): void;

  /** Extra figures of the latest decision for the recording, per place and per column. */
  readonly extras?: readonly GameColumn[];
}

/** A figure that a game gives for each decision, recorded as an extra column of `samples`. */
export interface GameColumn {
  readonly name: string;
  readonly kind: 'int' | 'float';
  readonly meaning: string;
  /** Values per place: 1, or `width` for a ragged column of at most `width` values with `lengths` of them in use. */
  readonly width: number;
  readonly values: Float64Array;
  readonly lengths?: Int32Array;
}

/**
 * Makes a game with so many parallel worlds.
 *
 * @example
 * const make: GameMaker = (worlds) => makeGame('echo', { seats: 2 }, worlds);
 * assertGame(make);
 */
export type GameMaker = (worlds: number) => Game;
