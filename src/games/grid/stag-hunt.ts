/** Stag hunt: a stag needs two hunters on its cell in the same step, a hare one. Whoever catches something leaves, and so does the prey. */
import { z } from 'zod';
import { GridGame, stay } from './grid.ts';

export const stagHuntPresets = {
  '4x4-4h1s': { width: 4, height: 4, players: 4, stags: 1, hares: 4, obstacles: 0, horizon: 35 },
  '8x8-4h1s': { width: 8, height: 8, players: 4, stags: 1, hares: 4, obstacles: 5, horizon: 35 },
  '4x4-4h2s': { width: 4, height: 4, players: 4, stags: 2, hares: 4, obstacles: 0, horizon: 35 },
  '8x8-4h2s': { width: 8, height: 8, players: 4, stags: 2, hares: 4, obstacles: 5, horizon: 35 },
} as const;

const standard = stagHuntPresets['4x4-4h1s'];
const size = z.int().min(2).max(32);

export const stagHuntSettings = z
  .strictObject({
    preset: z
      .enum(['4x4-4h1s', '8x8-4h1s', '4x4-4h2s', '8x8-4h2s'])
      .default('4x4-4h1s')
      .describe('A named set of the settings below; what is given besides it overrides it.'),
    width: size.default(standard.width).describe('Columns of the grid.'),
    height: size.default(standard.height).describe('Rows of the grid.'),
    players: z.int().min(2).max(8).default(standard.players).describe('How many players hunt.'),
    stags: z.int().min(0).max(64).default(standard.stags).describe('Stags at the start.'),
    hares: z.int().min(0).max(64).default(standard.hares).describe('Hares at the start.'),
    obstacles: z
      .int()
      .min(0)
      .max(256)
      .default(standard.obstacles)
      .describe('Obstacle blocks that are tried; one that would cut the grid in two is left out.'),
    horizon: z
      .int()
      .min(1)
      .max(10_000)
      .default(standard.horizon)
      .describe('Steps after which the episode is truncated.'),
    stagReward: z.number().default(10).describe('What a stag pays, shared equally by its hunters.'),
    hareReward: z.number().default(1).describe('What a hare pays, shared equally by its hunters.'),
    viewRadius: z
      .int()
      .min(0)
      .max(32)
      .default(0)
      .describe('How far a player sees, in rows and columns; 0 means everything.'),
  })
  .refine((s) => s.stags + s.hares > 0, { message: 'stags and hares must not both be 0, or there is nothing to hunt' })
  .refine((s) => s.players + s.stags + s.hares + s.obstacles <= s.width * s.height, {
    message: 'players, stags, hares and obstacles must fit on distinct cells; make the grid larger',
  });
export type StagHuntSettings = z.infer<typeof stagHuntSettings>;

export const huntStag = 5;
export const huntHare = 6;

export class StagHunt extends GridGame {
  readonly goals = ['stag', 'hare'] as const;
  readonly alone: number;
  private readonly pays: Float64Array;

  constructor(settings: StagHuntSettings, worlds: number) {
    const { stags, hares, stagReward, hareReward } = settings;
    super('stag-hunt', settings, { ...settings, things: [stags, hares] }, worlds);
    this.alone = hareReward * Math.min(1, hares / settings.players);
    this.pays = Float64Array.of(0, stagReward, hareReward);
  }

  protected settle(world: number): void {
    const { players, position, choice, thing, actors } = this;
    const first = world * players;
    const base = world * this.cells;
    for (let place = first; place < first + players; place++) {
      if (choice[place] <= stay) continue;
      const cell = position[place];
      const prey = thing[base + cell];
      const hunters = actors[cell];
      if (prey === 1 && hunters < 2) continue;
      this.reward[place] = this.pays[prey] / hunters;
      this.goal[place] = prey - 1;
      this.terminated[place] = 1;
      this.acting[place] = 0;
      this.present[place] = 0;
    }
    // Prey leave only now, so that every hunter of a cell finds the same.
    for (let place = first; place < first + players; place++) {
      if (choice[place] <= stay) continue;
      const cell = position[place];
      actors[cell] = 0;
      if (this.acting[place] === 1) continue;
      choice[place] = stay;
      if (thing[base + cell] !== 0) {
        thing[base + cell] = 0;
        this.remaining[world]--;
      }
    }
  }
}
