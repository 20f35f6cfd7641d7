/** Scripted players. A player answers with a local index into the place's candidates, and draws only from the stream it is handed. */
import type { RandomStream } from '../math/random.ts';
import { City } from './city/game.ts';
import { cityPlayers } from './city/players.ts';
import type { Game } from './game.ts';
import { GridGame, stay } from './grid/grid.ts';
import { Snowdrift } from './grid/snowdrift.ts';
import { StagHunt } from './grid/stag-hunt.ts';
import { GameRefusal } from './refusal.ts';

/**
 * Chooses an action for one seat of one world; scripted players and learnt policies play alike.
 *
 * @example
 * const player: Player = makePlayer('random', game);
 */
export interface Player {
  readonly name: string;
  /** True where the player looks at `count`, `candidates` and `legal` alone. */
  readonly listsOnly?: boolean;
  /** The choice for an acting place, as an index into its candidates. */
  act(game: Game, place: number, stream: RandomStream): number;
}

/** Uniform over the legal candidates. */
export const randomPlayer: Player = {
  name: 'random',
  listsOnly: true,
  act(game, place, stream) {
    const first = place * game.shape.candidates;
    const end = first + game.numActions[place];
    let legal = 0;
    for (let i = first; i < end; i++) legal += game.legal[i];
    let wanted = stream.below(legal);
    for (let i = first; i < end; i++) {
      if (game.legal[i] === 1 && wanted-- === 0) return i - first;
    }
    throw new Error(`Place ${place} of ${game.name} acts without a legal candidate.`);
  },
};

/**
 * Walks a shortest way to the nearest thing of its kind and acts on it on arrival; when its kind is gone, to the other kinds in the
 * order given. Among equally short ways, and equally near things, every first move is equally likely.
 */
export function nearestPlayer(name: string, kinds: readonly number[]): Player {
  const targets: Int16Array[] = [];
  return {
    name,
    act(game, place, stream) {
      if (!(game instanceof GridGame)) throw new GameRefusal(`The player ${name} cannot play ${game.name}.`);
      const world = Math.floor(place / game.players);
      const here = game.position[place];
      const base = world * game.cells;
      let kind = 0;
      targets.length = 0;
      for (let i = 0; i < kinds.length && targets.length === 0; i++) {
        kind = kinds[i];
        for (let cell = 0; cell < game.cells; cell++) {
          if (game.thing[base + cell] === kind + 1) targets.push(game.distances(world, cell));
        }
      }
      if (targets.length === 0) return stay;
      if (game.thing[base + here] === kind + 1) return stay + 1 + kind;
      const nearest = nearestOf(targets, here);
      const open = game.moves[base + here];
      let choice = stay;
      let ways = 0;
      for (let move = 0; move < stay; move++) {
        if (((open >> move) & 1) === 0) continue;
        if (nearestOf(targets, game.neighbour(here, move)) !== nearest - 1) continue;
        // Keeping the n-th way with chance 1/n makes all of them equally likely.
        if (stream.below(++ways) === 0) choice = move;
      }
      return choice;
    },
  };
}

function nearestOf(targets: readonly Int16Array[], cell: number): number {
  let nearest = 1 << 15;
  for (let i = 0; i < targets.length; i++) if (targets[i][cell] < nearest) nearest = targets[i][cell];
  return nearest;
}

type PlayerMaker = (game: Game) => Player;

function makers(game: Game): Record<string, PlayerMaker> {
  const known: Record<string, PlayerMaker> = { random: () => randomPlayer };
  if (game instanceof StagHunt) {
    known['nearest-stag'] = () => nearestPlayer('nearest-stag', [0, 1]);
    known['nearest-hare'] = () => nearestPlayer('nearest-hare', [1, 0]);
  }
  if (game instanceof Snowdrift) known['nearest-drift'] = () => nearestPlayer('nearest-drift', [0]);
  if (game instanceof City) Object.assign(known, cityPlayers);
  return known;
}

/** The scripted players that a game has. */
export function playerNames(game: Game): string[] {
  return Object.keys(makers(game));
}

/**
 * A scripted player of `game` by name.
 *
 * @example
 * const player = makePlayer('random', makeGame('echo'));
 */
export function makePlayer(name: string, game: Game): Player {
  const known = makers(game);
  if (!Object.hasOwn(known, name)) {
    throw new GameRefusal(
      `${game.name} has no player "${name}"; its scripted players are ${Object.keys(known).join(', ')}.`,
    );
  }
  return known[name](game);
}
