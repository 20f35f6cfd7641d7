/** Cleanup: apples grow only while the river is clean, whoever cleans it; cleaning pays nothing. The river is the first columns of the grid, the orchard the last, and nobody leaves. */
import { z } from 'zod';
import type { RandomStream } from '../../math/random.ts';
import { GridGame, stay } from './grid.ts';

const size = z.int().min(2).max(32);
const chance = () => z.number().min(0).max(1);

export const cleanupSettings = z
  .strictObject({
    width: size.default(7).describe('Columns of the grid.'),
    height: size.default(5).describe('Rows of the grid.'),
    river: z.int().min(1).max(16).default(2).describe('Columns of the river, at the left edge.'),
    orchard: z.int().min(1).max(16).default(3).describe('Columns of the orchard, at the right edge.'),
    players: z.int().min(2).max(8).default(4).describe('How many players there are.'),
    horizon: z.int().min(1).max(10_000).default(100).describe('Steps after which the episode is truncated.'),
    waste: chance().default(1).describe('Share of the river that is dirty at the start.'),
    pollution: chance().default(0.03).describe('Chance that a clean cell of the river becomes dirty in a step.'),
    growth: chance()
      .default(0.08)
      .describe('Chance that an apple grows on an empty cell of the orchard in a step, where the river is clean.'),
    limit: z
      .number()
      .gt(0)
      .max(1)
      .default(0.6)
      .describe('Share of dirty river from which no apple grows; below it growth rises in a straight line.'),
    apple: z.number().min(0).default(1).describe('What an apple pays, shared equally by those who eat it at once.'),
    viewRadius: z
      .int()
      .min(0)
      .max(32)
      .default(0)
      .describe('How far a player sees, in rows and columns; 0 means everything.'),
  })
  .refine((s) => s.river + s.orchard <= s.width, {
    message: 'river and orchard must fit side by side; make the grid wider',
  })
  .refine((s) => s.players <= s.width * s.height, {
    message: 'players must fit on distinct cells; make the grid larger',
  });
export type CleanupSettings = z.infer<typeof cleanupSettings>;

/** Kinds of things: waste, apples. */
export const waste = 1;
export const apple = 2;
export const clean = stay + 1;
export const eat = stay + 2;

export class Cleanup extends GridGame {
  readonly goals = ['clean', 'eat'] as const;
  private readonly own: CleanupSettings;
  readonly riverCells: Int32Array;
  readonly orchardCells: Int32Array;

  constructor(settings: CleanupSettings, worlds: number) {
    super('cleanup', settings, { ...settings, things: [0, 0], obstacles: 0, endless: true }, worlds);
    this.own = settings;
    const { width, river, orchard } = settings;
    const column = (from: number, to: number) =>
      Int32Array.from(
        Array.from({ length: this.cells }, (_, cell) => cell).filter(
          (cell) => cell % width >= from && cell % width < to,
        ),
      );
    this.riverCells = column(0, river);
    this.orchardCells = column(width - orchard, width);
  }

  override start(world: number, stream: RandomStream): void {
    super.start(world, stream);
    const base = world * this.cells;
    const dirty = Math.round(this.own.waste * this.riverCells.length);
    const order = stream.shuffle(this.riverCells.slice());
    for (let i = 0; i < dirty; i++) this.thing[base + order[i]] = waste;
  }

  /** Share of the river that is dirty. */
  dirt(world: number): number {
    const base = world * this.cells;
    let dirty = 0;
    for (const cell of this.riverCells) if (this.thing[base + cell] === waste) dirty++;
    return dirty / this.riverCells.length;
  }

  protected settle(world: number): void {
    const { players, position, choice, thing, actors, goal } = this;
    const first = world * players;
    const base = world * this.cells;
    for (let place = first; place < first + players; place++) {
      if (choice[place] <= stay) continue;
      const eats = choice[place] === eat;
      if (eats) this.reward[place] = this.own.apple / actors[position[place]];
      goal[place] = eats ? 1 : 0;
    }
    for (let place = first; place < first + players; place++) {
      if (choice[place] <= stay) continue;
      actors[position[place]] = 0;
      thing[base + position[place]] = 0;
    }
  }

  protected override follow(world: number): void {
    const { thing } = this;
    const stream = this.streams[world] as RandomStream;
    const { pollution, growth, limit } = this.own;
    const base = world * this.cells;
    const rate = growth * Math.max(0, 1 - this.dirt(world) / limit);
    for (const cell of this.riverCells)
      if (thing[base + cell] === 0 && stream.uniform() < pollution) thing[base + cell] = waste;
    for (const cell of this.orchardCells)
      if (thing[base + cell] === 0 && stream.uniform() < rate) thing[base + cell] = apple;
  }
}
