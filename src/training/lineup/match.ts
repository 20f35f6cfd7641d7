/** Agents of runs and scripted players at one table, only to play: nobody learns, and what each believes goes on from episode to episode of a world. */
import { gameMaker } from '../../games/index.ts';
import { meanInterval } from '../../math/ranks/paired-tests.ts';
import type { Engine } from '../../net/types.ts';
import type { EpisodeResults } from '../collect/episodes.ts';
import { playLearnt } from '../collect/evaluate.ts';
import { agentNames } from '../collect/seating.ts';
import type { Settings } from '../settings.ts';
import { cleanStages } from '../stages.ts';
import { readLineup } from './lineup.ts';
import type { Origins } from './origin.ts';
import { makeTable } from './table.ts';

export interface MatchOptions {
  /** Worlds that play side by side, each its own sequence of episodes. */
  readonly worlds: number;
  /** Episodes of each world. */
  readonly episodes: number;
  readonly seed: number;
}

/** Every return of a match; none of `players` may learn. */
export function playMatch(
  engine: Engine,
  settings: Settings,
  players: readonly string[],
  origins: Origins,
  { worlds, episodes, seed }: MatchOptions,
): EpisodeResults {
  const make = gameMaker(settings.game, settings.gameSettings);
  const game = make(worlds);
  const own = { ...settings, players: [...players], worlds, deal: false };
  const names = agentNames(own, game);
  const lineup = readLineup(names, own, origins);
  const run = { engine, game, make, names, plans: lineup.plans, settings: own, stages: cleanStages };
  const { crew, seated } = makeTable(run, lineup, origins);
  const trained = { learners: [], seated, seating: { names }, settings: own, crew, engine };
  return playLearnt(trained, make, { worlds, episodes: worlds * episodes, seed, deal: false });
}

/** Mean and half width of the 95 % interval over the worlds, for each episode, of the agent in the first seat. */
export function curveOf(
  results: EpisodeResults,
  worlds: number,
  episodes: number,
): { mean: number; halfWidth: number }[] {
  return Array.from({ length: episodes }, (_, number) => {
    const returns: number[] = [];
    for (let i = 0; i < results.length; i++)
      if (results.agent[i] === 0 && Math.floor(results.episode[i] / worlds) === number) returns.push(results.return[i]);
    return interval(returns);
  });
}

/** Of the 95 % interval by Student's t, because lives and seeds are few; NaN where there is only one. */
export function interval(values: readonly number[]): { mean: number; halfWidth: number } {
  const { mean, high } = meanInterval(values);
  return { mean, halfWidth: values.length > 1 ? high - mean : Number.NaN };
}
