/** Who plays: the agents by name, which of them learn, and the scripted players of the others. Names, not numbers, choose the random streams. */
import { algorithmNames } from '../../algorithms/index.ts';
import type { Learner, LearnerPlan } from '../../algorithms/learner.ts';
import type { Game } from '../../games/game.ts';
import { makePlayer, type Player } from '../../games/players.ts';
import type { Settings } from '../settings.ts';

export interface Seating {
  readonly names: readonly string[];
  /** Per agent: the index of its learner, or -1 where it is scripted. */
  readonly learnerOf: Int32Array;
  /** Per agent: its scripted player. */
  readonly players: readonly (Player | null)[];
  readonly deal: boolean;
}

export const learning = 'learn';

export function agentNames(settings: Pick<Settings, 'names'>, game: Game): string[] {
  const { seats, roles } = game.shape;
  return settings.names ?? roles?.slice() ?? Array.from({ length: seats }, (_, seat) => `player_${seat + 1}`);
}

/** The names of algorithms are names for learning, too. */
export function isLearning(player: string): boolean {
  return player === learning || (algorithmNames as readonly string[]).includes(player);
}

/** One learner per learning agent, or one for all of them. */
export function planLearners(names: readonly string[], settings: Pick<Settings, 'players' | 'sharing'>): LearnerPlan[] {
  const agents = names.map((_, agent) => agent).filter((agent) => isLearning(settings.players?.[agent] ?? learning));
  if (settings.sharing === 'shared' && agents.length > 0) return [{ index: 0, name: 'shared', agents }];
  return agents.map((agent, index) => ({ index, name: names[agent], agents: [agent] }));
}

export function makeSeating(
  game: Game,
  names: readonly string[],
  settings: Pick<Settings, 'players' | 'deal'>,
  learners: readonly Pick<Learner, 'index' | 'agents'>[],
): Seating {
  const learnerOf = new Int32Array(names.length).fill(-1);
  for (const learner of learners) for (const agent of learner.agents) learnerOf[agent] = learner.index;
  const players = names.map((_, agent) =>
    learnerOf[agent] >= 0 ? null : makePlayer(settings.players?.[agent] ?? 'random', game),
  );
  return { names, learnerOf, players, deal: settings.deal };
}
