/** Players on a grid of cells, with things to act on: what stag hunt, snowdrift, the coin game and cleanup share. All players move and act at once; nothing may depend on a seat's number. */
import type { RandomStream } from '../../math/random.ts';
import {
  copyBlock,
  copyFloatBlock,
  GameArrays,
  permuteBlocks,
  requirePermutation,
  SavedNumbers,
  saveBlock,
} from '../arrays.ts';
import type { Game } from '../game.ts';
import { distancesFrom, keepsConnected, near, openMoves } from './paths.ts';
import { type GridRules, moveNames, obstacle, stay } from './rules.ts';

export { moveNames, obstacle, rotation, stay } from './rules.ts';

export abstract class GridGame extends GameArrays implements Game {
  readonly players: number;
  readonly cells: number;
  readonly kinds: number;
  readonly planes: NonNullable<Game['planes']>;
  /** Cell of every place; after a player has left, where it stood last. */
  readonly position: Int32Array;
  readonly present: Uint8Array;
  /** What lies on every cell of every world. */
  readonly thing: Uint8Array;
  /** Things still there, per world. */
  readonly remaining: Int32Array;
  readonly stepsTaken: Int32Array;
  /** Global action of every place in the step being taken; places that do not act hold `stay`. */
  readonly choice: Uint8Array;
  /** The goal that every place has reached in the latest step, -1 for none; `goals` names them. */
  readonly goal: Int8Array;
  /** Open moves of every cell of every world, one bit per direction, with `stay`. */
  readonly moves: Uint8Array;
  /** How many players act on a cell in this step; all zero between steps. */
  protected readonly actors: Uint8Array;
  protected readonly streams: (RandomStream | undefined)[];
  private readonly delta: Int32Array;
  private readonly actBit: Uint8Array;
  private readonly freeCells: Int32Array;
  private readonly seen: Int32Array;
  /** Distances from cells, found when first asked for; worlds without obstacles share the first world's. */
  private readonly distanceRows: (Int16Array | undefined)[];

  constructor(
    readonly name: string,
    readonly settings: Readonly<Record<string, unknown>>,
    readonly rules: GridRules,
    worlds: number,
  ) {
    const { width, height, players, things, horizon } = rules;
    const cells = width * height;
    const kinds = things.length;
    const planes = (players + kinds + 2) * cells;
    const actions = moveNames.length + (rules.stepOn ? 0 : kinds);
    super(
      { seats: players, observation: planes, state: planes, actions, candidates: actions, features: 0, horizon },
      worlds,
    );
    this.planes = { width, height, players, kinds };
    this.players = players;
    this.cells = cells;
    this.kinds = kinds;
    this.position = new Int32Array(worlds * players);
    this.present = new Uint8Array(worlds * players);
    this.thing = new Uint8Array(worlds * cells);
    this.remaining = new Int32Array(worlds);
    this.stepsTaken = new Int32Array(worlds);
    this.choice = new Uint8Array(worlds * players).fill(stay);
    this.goal = new Int8Array(worlds * players).fill(-1);
    this.moves = new Uint8Array(worlds * cells);
    this.actors = new Uint8Array(cells);
    this.streams = new Array(worlds);
    this.delta = Int32Array.of(-width, width, -1, 1, 0);
    this.actBit = new Uint8Array(256);
    for (let kind = 0; kind < kinds && !rules.stepOn; kind++) this.actBit[kind + 1] = 1 << (5 + kind);
    this.freeCells = new Int32Array(cells);
    this.seen = new Int32Array(cells);
    this.distanceRows = new Array(worlds * cells);
    const empty = new Uint8Array(cells);
    for (let world = 0; world < worlds; world++) openMoves(width, height, empty, 0, this.moves, world * cells);
    this.fillCandidates();
  }

  /** Pays the players who act on things in this step, and removes what is gone. Called only when someone acts. */
  protected abstract settle(world: number): void;

  /** What happens after everybody has moved and acted: things that are stepped on, and things that come back. */
  protected follow?(world: number): void;

  /** The number, from 0 on, of the plane in which `viewer` sees a thing of a kind; the joint state is viewer -1. */
  protected kindSeen?(kind: number, world: number, viewer: number): number;

  reset(world: number, stream: RandomStream): void {
    this.start(world, stream);
    this.show(world);
  }

  /** A new episode without its outputs; `show` makes them. */
  start(world: number, stream: RandomStream): void {
    const { cells, players } = this;
    const { things, obstacles, width, height } = this.rules;
    const base = world * cells;
    const free = this.freeCells;
    this.streams[world] = stream;
    this.thing.fill(0, base, base + cells);
    for (let cell = 0; cell < cells; cell++) free[cell] = cell;
    let left = cells;
    if (obstacles > 0) {
      // A block that would cut the free cells in two is left out, so that there are at most so many.
      for (let i = 0; i < obstacles; i++) {
        const at = stream.below(left);
        const cell = free[at];
        this.thing[base + cell] = obstacle;
        if (keepsConnected(width, height, this.thing, base)) free[at] = free[--left];
        else this.thing[base + cell] = 0;
      }
      openMoves(width, height, this.thing, base, this.moves, base);
      this.distanceRows.fill(undefined, base, base + cells);
    }
    for (let place = world * players; place < (world + 1) * players; place++) {
      const at = stream.below(left);
      this.position[place] = free[at];
      free[at] = free[--left];
      this.present[place] = 1;
      this.acting[place] = 1;
      this.choice[place] = stay;
      this.goal[place] = -1;
      this.reward[place] = 0;
      this.terminated[place] = 0;
      this.truncated[place] = 0;
    }
    let count = 0;
    for (let kind = 0; kind < things.length; kind++) {
      for (let i = 0; i < things[kind]; i++) {
        const at = stream.below(left);
        this.thing[base + free[at]] = kind + 1;
        free[at] = free[--left];
        count++;
      }
    }
    this.remaining[world] = count;
    this.stepsTaken[world] = 0;
    this.over[world] = 0;
  }

  /** The legal actions of a place as bits. */
  legalBits(world: number, place: number): number {
    const cell = world * this.cells + this.position[place];
    return this.moves[cell] | this.actBit[this.thing[cell]];
  }

  step(actions: Int32Array): void {
    const { players } = this;
    for (let world = 0; world < this.worlds; world++) {
      if (this.over[world] === 1) continue;
      for (let place = world * players; place < (world + 1) * players; place++) {
        if (this.acting[place] === 0) continue;
        const action = actions[place];
        if (!(action >= 0 && action < this.shape.actions) || ((this.legalBits(world, place) >> action) & 1) === 0) {
          throw new RangeError(
            `${this.name}: seat ${place - world * players} of world ${world} chose candidate ${action}, which is not legal there; choose one whose legal mask is 1.`,
          );
        }
        this.choice[place] = action;
      }
      this.advance(world);
      this.show(world);
    }
  }

  /** One step of one world by `choice`, without its outputs other than rewards and ends. */
  advance(world: number): void {
    const { players, position, choice } = this;
    const first = world * players;
    const end = first + players;
    let acts = 0;
    for (let place = first; place < end; place++) {
      this.goal[place] = -1;
      this.reward[place] = 0;
      this.terminated[place] = 0;
      this.truncated[place] = 0;
      const action = choice[place];
      if (action > stay) {
        this.actors[position[place]]++;
        acts++;
      } else position[place] += this.delta[action];
    }
    if (acts > 0) this.settle(world);
    this.follow?.(world);
    const steps = ++this.stepsTaken[world];
    const done = this.remaining[world] === 0 && !this.rules.endless;
    const late = steps >= this.rules.horizon;
    if (!done && !late && acts === 0) return;
    let active = 0;
    for (let place = first; place < end; place++) {
      if (this.acting[place] === 0) continue;
      if (done) this.terminated[place] = 1;
      else if (late) this.truncated[place] = 1;
      else {
        active++;
        continue;
      }
      this.acting[place] = 0;
      choice[place] = stay;
    }
    if (active === 0) this.over[world] = 1;
  }

  /** Fills observations, legal masks and the joint state of a world. */
  show(world: number): void {
    const { players, cells, kinds, position, present, thing, seen } = this;
    const { viewRadius, width } = this.rules;
    const { observation: length, actions } = this.shape;
    const first = world * players;
    const base = world * cells;
    const presence = (players + kinds + 1) * cells;
    let things = 0;
    for (let cell = 0; cell < cells; cell++) if (thing[base + cell] !== 0) seen[things++] = cell;

    for (let viewer = 0; viewer <= players; viewer++) {
      // The last view is the joint state: seats in their own order, and everything is seen.
      const joint = viewer === players;
      const out = joint ? this.state : this.obs;
      const start = joint ? world * length : (first + viewer) * length;
      const from = joint ? 0 : viewer;
      const centre = joint || viewRadius === 0 ? -1 : position[first + viewer];
      out.fill(0, start, start + length);
      for (let i = 0; i < players; i++) {
        const other = from + i < players ? from + i : from + i - players;
        if (present[first + other] === 0) continue;
        out[start + presence + i] = 1;
        const cell = position[first + other];
        if (centre < 0 || near(centre, cell, width, viewRadius)) out[start + i * cells + cell] = 1;
      }
      for (let i = 0; i < things; i++) {
        const cell = seen[i];
        if (centre >= 0 && !near(centre, cell, width, viewRadius)) continue;
        const kind = thing[base + cell];
        const plane = kind === obstacle ? kinds : (this.kindSeen?.(kind - 1, world, joint ? -1 : viewer) ?? kind - 1);
        out[start + (players + plane) * cells + cell] = 1;
      }
    }

    for (let place = first; place < first + players; place++) {
      const acting = this.acting[place] === 1;
      const bits = acting ? this.legalBits(world, place) : 0;
      this.numActions[place] = acting ? actions : 0;
      for (let action = 0; action < actions; action++) this.legal[place * actions + action] = (bits >> action) & 1;
    }
  }

  /** Walking distances of a world's cells from one of them; -1 where there is no way. */
  distances(world: number, from: number): Int16Array {
    const base = this.rules.obstacles === 0 ? 0 : world * this.cells;
    const known = this.distanceRows[base + from];
    if (known) return known;
    const found = distancesFrom(this.rules.width, this.rules.height, this.moves, base, from);
    this.distanceRows[base + from] = found;
    return found;
  }

  /** The cell that a move leads to. */
  neighbour(cell: number, move: number): number {
    return cell + this.delta[move];
  }

  redraw(world: number, stream: RandomStream): void {
    this.streams[world] = stream;
  }

  save(world: number): number[] {
    const stream = this.streams[world];
    if (!stream) throw new Error(`World ${world} of ${this.name} was saved before its first reset; reset it first.`);
    const saved: number[] = [...stream.state(), this.over[world], this.remaining[world], this.stepsTaken[world]];
    saveBlock(saved, this.thing, world * this.cells, this.cells);
    for (const array of this.perPlace()) saveBlock(saved, array, world * this.players, this.players);
    return saved;
  }

  load(world: number, saved: readonly number[]): void {
    const read = new SavedNumbers(saved);
    this.streams[world] = read.stream();
    this.over[world] = read.take();
    this.remaining[world] = read.take();
    this.stepsTaken[world] = read.take();
    const base = world * this.cells;
    read.block(this.thing, base, this.cells);
    for (const array of this.perPlace()) read.block(array, world * this.players, this.players);
    read.end(this.name);
    this.choice.fill(stay, world * this.players, (world + 1) * this.players);
    openMoves(this.rules.width, this.rules.height, this.thing, base, this.moves, base);
    this.distanceRows.fill(undefined, base, base + this.cells);
    this.show(world);
  }

  take(from: Game, world: number, into: number): void {
    if (!(from instanceof GridGame) || from.cells !== this.cells || from.players !== this.players)
      throw new TypeError(`A world of ${from.name} cannot be taken into ${this.name}.`);
    const { players, cells } = this;
    const { observation, actions, state } = this.shape;
    this.streams[into] = from.streams[world];
    this.over[into] = from.over[world];
    this.remaining[into] = from.remaining[world];
    this.stepsTaken[into] = from.stepsTaken[world];
    const theirs = from.perPlace();
    const mine = this.perPlace();
    for (let i = 0; i < mine.length; i++) copyBlock(theirs[i], world, mine[i], into, players);
    copyBlock(from.choice, world, this.choice, into, players);
    copyBlock(from.goal, world, this.goal, into, players);
    copyBlock(from.numActions, world, this.numActions, into, players);
    copyBlock(from.thing, world, this.thing, into, cells);
    copyBlock(from.moves, world, this.moves, into, cells);
    copyBlock(from.legal, world, this.legal, into, players * actions);
    copyFloatBlock(from.obs, world, this.obs, into, players * observation);
    copyFloatBlock(from.state, world, this.state, into, state);
    if (this.rules.obstacles > 0) this.distanceRows.fill(undefined, into * cells, (into + 1) * cells);
  }

  relabel(world: number, permutation: readonly number[]): void {
    requirePermutation(permutation, this.players);
    for (const array of this.perPlace()) permuteBlocks(array, world * this.players, 1, permutation);
    this.show(world);
  }

  /** `seat` is where the player sat when it saw `observation`, before the seats were permuted. */
  relabelObservation(observation: Float32Array, seat: number, permutation: readonly number[]): Float32Array {
    const { players, cells, kinds } = this;
    const result = observation.slice();
    const seatNow = permutation.indexOf(seat);
    const presence = (players + kinds + 1) * cells;
    for (let i = 0; i < players; i++) {
      const was = (permutation[(seatNow + i) % players] - seat + players) % players;
      result.set(observation.subarray(was * cells, (was + 1) * cells), i * cells);
      result[presence + i] = observation[presence + was];
    }
    return result;
  }

  protected perPlace(): (Int32Array | Uint8Array | Float32Array)[] {
    return [this.position, this.present, this.acting, this.reward, this.terminated, this.truncated];
  }
}
