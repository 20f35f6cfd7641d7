/** Snowdrift: whoever clears a drift pays for it and everyone profits, so that each would rather another did it. Nobody leaves before the end. */
import { z } from 'zod';
import { GridGame, stay } from './grid.ts';

const size = z.int().min(2).max(32);

export const snowdriftSettings = z
  .strictObject({
    width: size.default(8).describe('Columns of the grid.'),
    height: size.default(8).describe('Rows of the grid.'),
    players: z.int().min(2).max(8).default(4).describe('How many players there are.'),
    drifts: z.int().min(1).max(256).default(6).describe('Drifts at the start.'),
    obstacles: z
      .int()
      .min(0)
      .max(256)
      .default(0)
      .describe('Obstacle blocks that are tried; one that would cut the grid in two is left out.'),
    horizon: z.int().min(1).max(10_000).default(50).describe('Steps after which the episode is truncated.'),
    cost: z
      .number()
      .min(0)
      .default(4)
      .describe('What clearing a drift costs, shared equally by those who clear it in the same step.'),
    benefit: z.number().min(0).default(6).describe('What every player receives for each drift that is cleared.'),
    viewRadius: z
      .int()
      .min(0)
      .max(32)
      .default(0)
      .describe('How far a player sees, in rows and columns; 0 means everything.'),
  })
  .refine((s) => s.players + s.drifts + s.obstacles <= s.width * s.height, {
    message: 'players, drifts and obstacles must fit on distinct cells; make the grid larger',
  });
export type SnowdriftSettings = z.infer<typeof snowdriftSettings>;

export const clearDrift = 5;

export class Snowdrift extends GridGame {
  readonly goals = ['clear', 'wait'] as const;
  private readonly cost: number;
  private readonly benefit: number;

  constructor(settings: SnowdriftSettings, worlds: number) {
    super('snowdrift', settings, { ...settings, things: [settings.drifts] }, worlds);
    this.cost = settings.cost;
    this.benefit = settings.benefit;
  }

  protected settle(world: number): void {
    const { players, position, choice, thing, actors } = this;
    const first = world * players;
    const base = world * this.cells;
    let cleared = 0;
    for (let place = first; place < first + players; place++) {
      if (choice[place] <= stay) continue;
      const cell = position[place];
      if (thing[base + cell] === 0) continue;
      thing[base + cell] = 0;
      cleared++;
    }
    this.remaining[world] -= cleared;
    for (let place = first; place < first + players; place++) {
      const share = choice[place] > stay ? this.cost / actors[position[place]] : 0;
      this.reward[place] = cleared * this.benefit - share;
      this.goal[place] = choice[place] > stay ? 0 : 1;
    }
    for (let place = first; place < first + players; place++) {
      if (choice[place] > stay) actors[position[place]] = 0;
    }
  }
}
