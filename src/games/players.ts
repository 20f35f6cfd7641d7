/** Scripted players. A player answers with a local index into the place's candidates, and draws only from the stream it is handed. */
import { told } from '../language/language.ts';
import type { RandomStream } from '../math/random.ts';
import { City } from './city/game.ts';
import { cityPlayers } from './city/players.ts';
import type { Game } from './game.ts';
import { dilemmaPlayers } from './grid/players.ts';
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

type PlayerMaker = (game: Game) => Player;

function makers(game: Game): Record<string, PlayerMaker> {
  const known: Record<string, PlayerMaker> = { random: () => randomPlayer };
  Object.assign(known, dilemmaPlayers(game));
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
      told(
        `${game.name} has no player "${name}"; its scripted players are ${Object.keys(known).join(', ')}.`,
        `${game.name} 没有玩家 "${name}"；它的脚本玩家有 ${Object.keys(known).join(', ')}。`,
      ),
    );
  }
  return known[name](game);
}
