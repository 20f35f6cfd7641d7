/** What a grid game is told about its grid; how things are acted on is the game's own. */
export interface GridRules {
  readonly width: number;
  readonly height: number;
  readonly players: number;
  /** How many things of each kind there are at the start. */
  readonly things: readonly number[];
  readonly obstacles: number;
  readonly horizon: number;
  /** Chebyshev distance up to which cells are seen; 0 for all. */
  readonly viewRadius: number;
  /** Things are taken by stepping on them, and there are no actions of taking. */
  readonly stepOn?: boolean;
  /** Things come back, so only the horizon ends an episode. */
  readonly endless?: boolean;
}

/** Global actions 0 to 4; action 5 + k acts on a thing of kind k on the player's own cell. */
export const stay = 4;
export const moveNames = ['up', 'down', 'left', 'right', 'stay'] as const;

/** What `thing` holds where an obstacle stands; kind k is k + 1 and an empty cell is 0. */
export const obstacle = 255;

/** The seats in the order in which `seat` sees them: itself first, then the others in cyclic order. Whatever refers to players uses it. */
export function rotation(seat: number, players: number): Int32Array {
  return Int32Array.from({ length: players }, (_, i) => (seat + i) % players);
}
