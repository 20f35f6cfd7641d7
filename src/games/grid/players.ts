/** Scripted players of the grid games, each a walker towards what it wants. Among equally short ways, and equally near things, every first move is equally likely. */
import { told } from '../../language/language.ts';
import type { Game } from '../game.ts';
import type { Player } from '../players.ts';
import { GameRefusal } from '../refusal.ts';
import { apple, Cleanup, waste } from './cleanup.ts';
import { CoinGame } from './coin-game.ts';
import { GridGame, stay } from './grid.ts';
import { Snowdrift } from './snowdrift.ts';
import { StagHunt } from './stag-hunt.ts';

/** Whether a thing on a cell is wanted by the player of a seat. */
type Wanted<G extends GridGame> = (thing: number, game: G, world: number, cell: number, seat: number) => boolean;

const kind = (wanted: number) => (thing: number) => thing === wanted;

/**
 * Walks a shortest way to the nearest thing that it wants and acts on it on arrival; where there is none, to what it wants next, in the
 * order given; where there is nothing at all, it stays.
 */
export function walker<G extends GridGame>(name: string, wants: readonly Wanted<G>[]): Player {
  const targets: Int16Array[] = [];
  return {
    name,
    act(game, place, stream) {
      if (!(game instanceof GridGame))
        throw new GameRefusal(
          told(`The player ${name} cannot play ${game.name}.`, `玩家 ${name} 不能玩 ${game.name}。`),
        );
      const { cells, thing, moves } = game;
      const world = Math.floor(place / game.players);
      const seat = place - world * game.players;
      const here = game.position[place];
      const base = world * cells;
      targets.length = 0;
      let wanted: Wanted<G> | undefined;
      for (let i = 0; i < wants.length && targets.length === 0; i++) {
        wanted = wants[i];
        for (let cell = 0; cell < cells; cell++) {
          if (thing[base + cell] !== 0 && wanted(thing[base + cell], game as G, world, cell, seat))
            targets.push(game.distances(world, cell));
        }
      }
      if (targets.length === 0) return stay;
      const nearest = nearestOf(targets, here);
      if (nearest === 0) return game.rules.stepOn ? stay : stay + thing[base + here];
      const open = moves[base + here];
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

/** Does nothing, whatever happens. */
const fix: Player = { name: 'fix', act: () => stay };

const any = () => true;
const own: Wanted<CoinGame> = (_, game, world, cell, seat) => game.ownerOf(world, cell) === seat;
const others: Wanted<CoinGame> = (_, game, world, cell, seat) => game.ownerOf(world, cell) !== seat;

/** A drift that nobody else is nearer to: greed lets others pay where it can. */
const near: Wanted<Snowdrift> = (_, game, world, cell, seat) => {
  const distances = game.distances(world, cell);
  const first = world * game.players;
  const mine = distances[game.position[first + seat]];
  for (let other = 0; other < game.players; other++)
    if (other !== seat && distances[game.position[first + other]] <= mine) return false;
  return true;
};

/** Cleans while there is dirt enough to keep apples from growing well, and eats otherwise. */
const dirty: Wanted<Cleanup> = (thing, game, world) => thing === waste && game.dirt(world) > 0.2;

/** The players that a game has beyond the random one: whoever cooperates, whoever does not, whoever takes what is nearest, and one that does nothing. */
export function dilemmaPlayers(game: Game): Record<string, () => Player> {
  const walk = <G extends GridGame>(name: string, ...wants: Wanted<G>[]) => ({ [name]: () => walker(name, wants) });
  const idle = { fix: () => fix };
  if (game instanceof StagHunt)
    return {
      ...walk('nearest-stag', kind(1), kind(2)),
      ...walk('nearest-hare', kind(2), kind(1)),
      ...walk('cooperate', kind(1)),
      ...walk('defect', kind(2)),
      ...walk('greedy', any),
      ...idle,
    };
  if (game instanceof Snowdrift)
    return {
      ...walk('nearest-drift', any),
      ...walk('cooperate', any),
      defect: () => ({ ...fix, name: 'defect' }),
      ...walk('greedy', near),
      ...idle,
    };
  if (game instanceof CoinGame)
    return { ...walk('cooperate', own), ...walk('defect', others, own), ...walk('greedy', any), ...idle };
  if (game instanceof Cleanup)
    return {
      ...walk('cooperate', dirty, kind(apple), kind(waste)),
      ...walk('defect', kind(apple)),
      ...walk('greedy', kind(apple), kind(waste)),
      fix: () => walker('fix', [kind(waste)]),
    };
  return {};
}
