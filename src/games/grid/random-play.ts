/** Random play of a grid game at full speed: uniform over legal actions, no observations. Each episode has a stream of its own name, so that ranges of episodes can be split and joined. */
import { RandomStream } from '../../math/random.ts';
import type { GridGame } from './grid.ts';

export interface RandomPlay {
  readonly episodes: number;
  /** Decisions taken, over all seats. */
  readonly agentSteps: number;
  /** Sum of returns per seat. */
  readonly sum: Float64Array;
  /** Sum over episodes of return i times return j, seats x seats; the diagonal holds the sums of squares. */
  readonly products: Float64Array;
}

export interface RandomPlayOptions {
  /** Number of the first episode. */
  readonly first?: number;
  /** Called after every episode; the array is reused. */
  readonly onEpisode?: (episode: number, returns: Float64Array) => void;
}

/** For every set of legal bits (up to 8 actions) how many there are, and which. */
const bitCount = new Uint8Array(256);
const bitAt = new Uint8Array(256 * 8);
for (let bits = 0; bits < 256; bits++) {
  for (let action = 0; action < 8; action++) {
    if ((bits >> action) & 1) bitAt[bits * 8 + bitCount[bits]++] = action;
  }
}

/** Plays in world 0 of `game`, whose current episode is lost. */
export function randomPlay(
  game: GridGame,
  episodes: number,
  seed: number,
  options: RandomPlayOptions = {},
): RandomPlay {
  const { players, acting, choice, reward } = game;
  const first = options.first ?? 0;
  const sum = new Float64Array(players);
  const products = new Float64Array(players * players);
  const returns = new Float64Array(players);
  let agentSteps = 0;
  for (let episode = first; episode < first + episodes; episode++) {
    const stream = RandomStream.of(seed, 'random-play', episode);
    game.start(0, stream);
    returns.fill(0);
    while (game.over[0] === 0) {
      for (let seat = 0; seat < players; seat++) {
        if (acting[seat] === 0) continue;
        const bits = game.legalBits(0, seat);
        // The product is below 2^35, so the whole part is exact and no action is favoured by more than 2^-32.
        const drawn = ((stream.int32() >>> 0) * bitCount[bits]) / 4294967296;
        choice[seat] = bitAt[bits * 8 + (drawn | 0)];
        agentSteps++;
      }
      game.advance(0);
      for (let seat = 0; seat < players; seat++) returns[seat] += reward[seat];
    }
    for (let i = 0; i < players; i++) {
      sum[i] += returns[i];
      for (let j = 0; j < players; j++) products[i * players + j] += returns[i] * returns[j];
    }
    options.onEpisode?.(episode, returns);
  }
  return { episodes, agentSteps, sum, products };
}
