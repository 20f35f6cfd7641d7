/** The coin game: a coin is worth 1 to whoever steps on it and costs its owner 2 where that is another. A coin's colour is not a seat but a draw; `drawOf` says whose it is, so that seats can be relabelled. */
import { z } from 'zod';
import type { RandomStream } from '../../math/random.ts';
import { GridGame } from './grid.ts';

export const coinGamePresets = {
  two: { width: 3, height: 3, players: 2, coins: 1, horizon: 50 },
  four: { width: 5, height: 5, players: 4, coins: 2, horizon: 50 },
} as const;

const standard = coinGamePresets.two;
const size = z.int().min(2).max(32);

export const coinGameSettings = z
  .strictObject({
    preset: z
      .enum(['two', 'four'])
      .default('two')
      .describe('A named set of the settings below; what is given besides it overrides it.'),
    width: size.default(standard.width).describe('Columns of the grid.'),
    height: size.default(standard.height).describe('Rows of the grid.'),
    players: z.int().min(2).max(8).default(standard.players).describe('How many players there are, a colour each.'),
    coins: z.int().min(1).max(64).default(standard.coins).describe('Coins that lie about at any time.'),
    horizon: z
      .int()
      .min(1)
      .max(10_000)
      .default(standard.horizon)
      .describe('Steps after which the episode is truncated.'),
    reward: z.number().min(0).default(1).describe('What a coin pays, shared equally by those who step on it at once.'),
    penalty: z
      .number()
      .min(0)
      .default(2)
      .describe("What the owner of a coin loses where others take it, in proportion to the others' share of it."),
    viewRadius: z
      .int()
      .min(0)
      .max(32)
      .default(0)
      .describe('How far a player sees, in rows and columns; 0 means everything.'),
  })
  .refine((s) => s.players + s.coins <= s.width * s.height, {
    message: 'players and coins must fit on distinct cells; make the grid larger',
  });
export type CoinGameSettings = z.infer<typeof coinGameSettings>;

export class CoinGame extends GridGame {
  readonly goals = ['own-coin', 'other-coin'] as const;
  /** Per place: the colour, as it is drawn, of the coins that are its own. */
  readonly drawOf: Int32Array;
  private readonly coins: number;
  private readonly pays: number;
  private readonly costs: number;
  private readonly free: Int32Array;

  constructor(settings: CoinGameSettings, worlds: number) {
    const { players, coins, reward, penalty } = settings;
    const things = new Array<number>(players).fill(0);
    super('coin-game', settings, { ...settings, things, obstacles: 0, stepOn: true, endless: true }, worlds);
    this.coins = coins;
    this.pays = reward;
    this.costs = penalty;
    this.drawOf = new Int32Array(worlds * players);
    this.free = new Int32Array(this.cells);
  }

  override start(world: number, stream: RandomStream): void {
    super.start(world, stream);
    for (let seat = 0; seat < this.players; seat++) this.drawOf[world * this.players + seat] = seat;
    for (let coin = 0; coin < this.coins; coin++) this.drop(world);
    this.remaining[world] = this.coins;
  }

  /** The seat whose coin lies on a cell; -1 where none lies there. */
  ownerOf(world: number, cell: number): number {
    const coin = this.thing[world * this.cells + cell];
    return coin === 0 ? -1 : this.seatOf(world, coin - 1);
  }

  /** A new coin on a cell where there is neither a player nor a coin. */
  private drop(world: number): void {
    const { cells, players, position, thing, free } = this;
    const base = world * cells;
    const stream = this.streams[world] as RandomStream;
    let left = 0;
    for (let cell = 0; cell < cells; cell++) {
      let taken = thing[base + cell] !== 0;
      for (let place = world * players; place < (world + 1) * players; place++) taken ||= position[place] === cell;
      if (!taken) free[left++] = cell;
    }
    thing[base + free[stream.below(left)]] = 1 + stream.below(players);
  }

  private seatOf(world: number, draw: number): number {
    let seat = 0;
    while (this.drawOf[world * this.players + seat] !== draw) seat++;
    return seat;
  }

  protected settle(): void {}

  protected override follow(world: number): void {
    const { players, position, thing, goal } = this;
    const first = world * players;
    const base = world * this.cells;
    let taken = 0;
    for (let place = first; place < first + players; place++) {
      const cell = base + position[place];
      if (thing[cell] === 0) continue;
      const owner = first + this.seatOf(world, thing[cell] - 1);
      let takers = 0;
      for (let other = first; other < first + players; other++) if (position[other] === position[place]) takers++;
      for (let other = first; other < first + players; other++) {
        if (position[other] !== position[place]) continue;
        this.reward[other] += this.pays / takers;
        goal[other] = other === owner ? 0 : 1;
        if (other !== owner) this.reward[owner] -= this.costs / takers;
      }
      thing[cell] = 0;
      taken++;
    }
    for (let coin = 0; coin < taken; coin++) this.drop(world);
  }

  /** One's own coins first, then those of the others in cyclic order, as the players themselves. */
  protected override kindSeen(kind: number, world: number, viewer: number): number {
    const seat = this.seatOf(world, kind);
    return viewer < 0 ? seat : (seat - viewer + this.players) % this.players;
  }

  override relabelObservation(observation: Float32Array, seat: number, permutation: readonly number[]): Float32Array {
    const { players, cells } = this;
    const result = super.relabelObservation(observation, seat, permutation);
    const now = permutation.indexOf(seat);
    for (let i = 0; i < players; i++) {
      const was = (permutation[(now + i) % players] - seat + players) % players;
      const from = (players + was) * cells;
      result.set(observation.subarray(from, from + cells), (players + i) * cells);
    }
    return result;
  }

  protected override perPlace(): (Int32Array | Uint8Array | Float32Array)[] {
    return [...super.perPlace(), this.drawOf];
  }
}
