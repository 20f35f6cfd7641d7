/** Exact relabelling of the game as the run plays it. Observations are compared only where the game says how they read when others are numbered anew. */
import { wrapGame } from '../faults/games.ts';
import { checkRelabel } from '../games/check.ts';
import type { GameMaker } from '../games/game.ts';
import type { Stages } from '../training/stages.ts';

const permutations = 4;

/** What is wrong, a sentence each; null where the game has no relabelling. */
export function relabelFindings(make: GameMaker, stages: Stages, episodes: number, seed: number): string[] | null {
  const played: GameMaker = (worlds) => {
    const game = stages.game(make(worlds));
    return game.relabelObservation ? game : wrapGame(game, { observation: () => 0 });
  };
  if (!played(1).relabel) return null;
  const finding = checkRelabel(played, episodes, seed, permutations);
  return finding === undefined ? [] : [finding.replace(/^relabelling: /, '')];
}
