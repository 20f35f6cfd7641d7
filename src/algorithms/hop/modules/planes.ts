/**
 * An observation of planes as a few small numbers: where each player stands, who is still there, what lies on each cell. Players are numbered
 * as the observer sees them, itself first; nothing here knows a seat or a name.
 */

/** How a game lays out its observation: one plane per player, one per kind of thing, one of obstacles, one of who is still there. */
export interface PlaneLayout {
  readonly width: number;
  readonly height: number;
  readonly players: number;
  readonly kinds: number;
}

/** One state is `stateWidth` entries: positions, presence, then one entry per cell. */
export type StateArray = Uint8Array | Int32Array;

/** The cells that a player can reach in one step, its own in the middle. */
export const neighbours = 9;

export class Planes {
  readonly players: number;
  readonly kinds: number;
  readonly cells: number;
  readonly observation: number;
  readonly stateWidth: number;
  /** Where the cells begin in a state. */
  readonly firstCell: number;
  /** What a cell holds where an obstacle stands; kind k is k + 1 and an empty cell is 0. */
  readonly obstacle: number;
  /** The position of a player that is not seen. */
  readonly nowhere: number;
  /** Values of `local` per player. */
  readonly localWidth: number;
  /** Per cell: the cells around it, -1 beyond the edge. */
  readonly around: Int32Array;

  constructor(
    readonly layout: PlaneLayout,
    readonly actions: number,
  ) {
    const { width, height, players, kinds } = layout;
    this.players = players;
    this.kinds = kinds;
    this.cells = width * height;
    this.observation = (players + kinds + 2) * this.cells;
    this.firstCell = 2 * players;
    this.stateWidth = this.firstCell + this.cells;
    this.obstacle = kinds + 1;
    this.nowhere = this.cells;
    this.localWidth = neighbours * (kinds + 2);
    this.around = new Int32Array(this.cells * neighbours).fill(-1);
    for (let cell = 0; cell < this.cells; cell++) {
      const row = Math.floor(cell / width);
      const column = cell % width;
      for (let i = 0; i < neighbours; i++) {
        const r = row + Math.floor(i / 3) - 1;
        const c = column + (i % 3) - 1;
        if (r >= 0 && r < height && c >= 0 && c < width) this.around[cell * neighbours + i] = r * width + c;
      }
    }
  }

  /** Room for so many states. */
  states(count: number): StateArray {
    return this.cells < 256 ? new Uint8Array(count * this.stateWidth) : new Int32Array(count * this.stateWidth);
  }

  /** Reads an observation. */
  parse(observation: Float32Array, from: number, into: StateArray, at: number): void {
    const { players, kinds, cells, firstCell } = this;
    const presence = from + (players + kinds + 1) * cells;
    for (let player = 0; player < players; player++) {
      let position = cells;
      const plane = from + player * cells;
      for (let cell = 0; cell < cells; cell++) {
        if (observation[plane + cell] > 0.5) {
          position = cell;
          break;
        }
      }
      into[at + player] = position;
      into[at + players + player] = observation[presence + player] > 0.5 ? 1 : 0;
    }
    const things = from + players * cells;
    for (let cell = 0; cell < cells; cell++) {
      let thing = 0;
      for (let kind = 0; kind <= kinds; kind++) if (observation[things + kind * cells + cell] > 0.5) thing = kind + 1;
      into[at + firstCell + cell] = thing;
    }
  }

  /** Writes the observation that a state stands for; the room must be all zeros where `clear` is false. */
  write(states: StateArray, at: number, into: Float32Array, to: number, clear = true): void {
    const { players, kinds, cells, firstCell } = this;
    if (clear) into.fill(0, to, to + this.observation);
    const presence = to + (players + kinds + 1) * cells;
    for (let player = 0; player < players; player++) {
      const position = states[at + player];
      if (position < cells) into[to + player * cells + position] = 1;
      if (states[at + players + player] === 1) into[presence + player] = 1;
    }
    const things = to + (players - 1) * cells;
    for (let cell = 0; cell < cells; cell++) {
      const thing = states[at + firstCell + cell];
      if (thing > 0) into[things + thing * cells + cell] = 1;
    }
  }

  /** What lies around a cell: for each neighbour whether it holds each kind, an obstacle, or is beyond the edge. */
  local(states: StateArray, at: number, cell: number, into: Float32Array, to: number): void {
    const { kinds, around, firstCell } = this;
    for (let i = 0; i < neighbours; i++) {
      const there = around[cell * neighbours + i];
      const thing = there < 0 ? kinds + 2 : states[at + firstCell + there];
      if (thing > 0) into[to + i * (kinds + 2) + thing - 1] = 1;
    }
  }

  /** Which neighbour of `from` a cell is; -1 where it is none. */
  offset(from: number, to: number): number {
    for (let i = 0; i < neighbours; i++) if (this.around[from * neighbours + i] === to) return i;
    return -1;
  }
}
