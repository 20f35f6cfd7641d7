/** Plays episodes with scripted or other players and gives every return. Results do not depend on how many worlds the game has. */
import { told } from '../language/language.ts';
import { RandomStream } from '../math/random.ts';
import { dealSeats, seatedNames } from './dealt.ts';
import type { Game } from './game.ts';
import type { Player } from './players.ts';
import { GameRefusal } from './refusal.ts';

export interface PlayOptions {
  /** Deals the players to seats anew each episode; otherwise player i sits in seat i. */
  readonly deal?: boolean;
  /** Called after every reset and step of a world, with the episode that it plays. */
  readonly onStep?: (world: number, episode: number) => void;
}

export interface Played {
  readonly episodes: number;
  readonly seats: number;
  /** Return by episode and seat. */
  readonly returns: Float64Array;
  /** Decisions by episode and seat. */
  readonly decisions: Int32Array;
  /** Which player sat there, by episode and seat. */
  readonly player: Int32Array;
}

/**
 * Plays `episodes` episodes; every episode and every seat draws from a stream of its own name.
 *
 * @example
 * const game = makeGame('stag-hunt', {}, 64);
 * const players = Array.from({ length: game.shape.seats }, () => makePlayer('nearest-stag', game));
 * console.log(meanBySeat(playEpisodes(game, players, 1000, 1)));
 */
export function playEpisodes(
  game: Game,
  players: readonly Player[],
  episodes: number,
  seed: number,
  options: PlayOptions = {},
): Played {
  const { seats } = game.shape;
  if (players.length !== seats) {
    throw new GameRefusal(
      told(
        `${game.name} has ${seats} seats and got ${players.length} players; give one for each seat.`,
        `${game.name} 有 ${seats} 个位置，却给了 ${players.length} 个玩家；请每个位置给一个。`,
      ),
    );
  }
  const returns = new Float64Array(episodes * seats);
  const decisions = new Int32Array(episodes * seats);
  const player = new Int32Array(episodes * seats);
  const playing = new Int32Array(game.worlds).fill(-1);
  const streams: RandomStream[] = new Array(game.worlds * seats);
  const actions = new Int32Array(game.worlds * seats);
  let begun = 0;
  let active = 0;
  game.over.fill(1);
  // What nobody looks at need not be shown.
  if (game.showing !== undefined) game.showing = options.onStep !== undefined || !players.every((one) => one.listsOnly);
  const begin = (world: number) => {
    playing[world] = -1;
    if (begun >= episodes) return;
    const episode = begun++;
    playing[world] = episode;
    active++;
    const order = options.deal ? seatedNames(dealSeats(RandomStream.of(seed, 'deal', episode), seats)) : undefined;
    for (let seat = 0; seat < seats; seat++) {
      player[episode * seats + seat] = order ? order[seat] : seat;
      streams[world * seats + seat] = RandomStream.of(seed, 'player', episode, seat);
    }
    game.reset(world, RandomStream.of(seed, 'world', episode));
    options.onStep?.(world, episode);
  };
  for (let world = 0; world < game.worlds; world++) begin(world);
  while (active > 0) {
    for (let world = 0; world < game.worlds; world++) {
      if (playing[world] < 0) continue;
      const row = playing[world] * seats;
      for (let seat = 0; seat < seats; seat++) {
        const place = world * seats + seat;
        if (game.acting[place] === 0) continue;
        actions[place] = players[player[row + seat]].act(game, place, streams[place]);
        decisions[row + seat]++;
      }
    }
    game.step(actions);
    for (let world = 0; world < game.worlds; world++) {
      const episode = playing[world];
      if (episode < 0) continue;
      for (let seat = 0; seat < seats; seat++) returns[episode * seats + seat] += game.reward[world * seats + seat];
      options.onStep?.(world, episode);
      if (game.over[world] === 0) continue;
      active--;
      begin(world);
    }
  }
  if (game.showing !== undefined) game.showing = true;
  return { episodes, seats, returns, decisions, player };
}

/** Mean of a column of returns with the half width of its 95 % interval (normal approximation). */
export interface Mean {
  readonly mean: number;
  readonly halfWidth: number;
  readonly episodes: number;
}

/**
 * Mean return in each seat.
 *
 * @example
 * for (const { mean, halfWidth } of meanBySeat(played)) console.log(`${mean} +- ${halfWidth}`);
 */
export function meanBySeat(played: Played): Mean[] {
  return Array.from({ length: played.seats }, (_, seat) => {
    return meanOf(played.episodes, (episode) => played.returns[episode * played.seats + seat]);
  });
}

/** Mean return of each player, wherever it sat. */
export function meanByPlayer(played: Played): Mean[] {
  const { seats, episodes, returns, player } = played;
  const own = new Float64Array(episodes * seats);
  for (let row = 0; row < own.length; row++) {
    const episode = Math.floor(row / seats);
    own[episode * seats + player[row]] = returns[row];
  }
  return Array.from({ length: seats }, (_, p) => meanOf(episodes, (episode) => own[episode * seats + p]));
}

function meanOf(episodes: number, value: (episode: number) => number): Mean {
  let mean = 0;
  let squares = 0;
  for (let episode = 0; episode < episodes; episode++) {
    const change = value(episode) - mean;
    mean += change / (episode + 1);
    squares += change * (value(episode) - mean);
  }
  const halfWidth = episodes > 1 ? 1.96 * Math.sqrt(squares / (episodes - 1) / episodes) : Number.NaN;
  return { mean, halfWidth, episodes };
}
