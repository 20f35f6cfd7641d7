/** Who plays: the agents by name, which of them learn, and the scripted players of the others. Names, not numbers, choose the random streams. */
import type { Learner } from '../../algorithms/learner.ts';
import type { Game } from '../../games/game.ts';
import { makePlayer, type Player } from '../../games/players.ts';
import { asksToLearn } from '../lineup/entry.ts';
import type { Settings } from '../settings.ts';

export interface Seating {
  readonly names: readonly string[];
  /** Per agent: the index of its learner, or -1 where it is scripted. */
  readonly learnerOf: Int32Array;
  /** Learners from this index on only play: they are frozen, and make no rows. */
  readonly learning: number;
  /** Per agent: its scripted player. */
  readonly players: readonly (Player | null)[];
  readonly deal: boolean;
}

export function agentNames(settings: Pick<Settings, 'names'>, game: Game): string[] {
  const { seats, roles } = game.shape;
  return settings.names ?? roles?.slice() ?? Array.from({ length: seats }, (_, seat) => `player_${seat + 1}`);
}

/** `learners` are those that learn, then those that only play. */
export function makeSeating(
  game: Game,
  names: readonly string[],
  settings: Pick<Settings, 'players' | 'deal'>,
  learners: readonly Pick<Learner, 'index' | 'agents'>[],
): Seating {
  const learnerOf = new Int32Array(names.length).fill(-1);
  for (const learner of learners) for (const agent of learner.agents) learnerOf[agent] = learner.index;
  const learning = learners.filter(({ agents }) => asksToLearn(settings.players?.[agents[0]])).length;
  const players = names.map((_, agent) =>
    learnerOf[agent] >= 0 ? null : makePlayer(settings.players?.[agent] ?? 'random', game),
  );
  return { names, learnerOf, learning, players, deal: settings.deal };
}
