/** What accompanies play: it adds to what policies see, and looks on. It draws nothing from the streams of play, so play without it is the same play. */
import type { Batch } from '../batch.ts';
import type { Collector } from './collector.ts';
import type { Decisions } from './decisions.ts';

export interface Companion {
  /** How many values follow the game's observation in a policy's input. */
  readonly width: number;
  /** A new episode has begun. */
  begin(collector: Collector, world: number): void;
  /** Fills what follows the observation for the places that a learner is asked about. */
  extend(collector: Collector, asked: Decisions): void;
  /** Everybody has chosen, and nothing has happened yet. */
  decided(collector: Collector, batch: Batch): void;
  /** The game has moved on; nobody was paid yet. */
  stepped(collector: Collector): void;
}
