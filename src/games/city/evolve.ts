/** Evolves the linear player of the city. Both companies evolve at once, each for its own return, so that neither learns against a stranger. */
import { told } from '../../language/language.ts';
import { RandomStream } from '../../math/random.ts';
import { playEpisodes } from '../play.ts';
import { GameRefusal } from '../refusal.ts';
import { candidateFeatures } from './candidates.ts';
import { SeparableEvolution } from './evolution.ts';
import type { City } from './game.ts';
import { linearPlayer } from './players.ts';

export interface EvolveOptions {
  readonly seed: number;
  readonly members: number;
  /** Episodes that every member of a generation plays, the same for all. */
  readonly episodes: number;
  /** The whole budget; the search stops before the generation that would exceed it. */
  readonly months: number;
  readonly sigma: number;
  readonly onGeneration?: (generation: number, ind: number, edu: number, months: number) => void;
}

export interface Evolved {
  /** Weights of IND, then of EDU: the means of the last generation. */
  readonly weights: number[];
  readonly generations: number;
  /** Months simulated in all. */
  readonly months: number;
}

/** Where the search starts: profit to the end per cost, less what is taken from own neighbours, and no large debt. */
export function startingWeights(): Float64Array {
  const weights = new Float64Array(candidateFeatures.length);
  weights[candidateFeatures.indexOf('profit per cost')] = 1;
  weights[candidateFeatures.indexOf('loss of own neighbours')] = -1;
  weights[candidateFeatures.indexOf('debt after')] = -1;
  return weights;
}

/** Searches with a game of any number of worlds; its settings are part of the result. */
export function evolve(game: City, options: EvolveOptions): Evolved {
  const { seed, members, episodes, sigma } = options;
  const width = candidateFeatures.length;
  const searches = [0, 1].map(() => new SeparableEvolution(startingWeights(), sigma, members));
  const perGeneration = members * episodes * game.settings.months;
  if (perGeneration > options.months) {
    throw new GameRefusal(
      told(
        `One generation of ${members} members and ${episodes} episodes takes ${perGeneration} months, and the budget is ${options.months}; give at least one generation's worth.`,
        `一代 ${members} 个成员、${episodes} 局需要 ${perGeneration} 个月，而预算是 ${options.months}；请至少给够一代。`,
      ),
    );
  }
  const fitness = [new Float64Array(members), new Float64Array(members)];
  const weights = new Float64Array(2 * width);
  let months = 0;
  let generation = 0;
  while (months + perGeneration <= options.months) {
    const populations = searches.map((search, company) => {
      return search.ask(RandomStream.of(seed, 'evolve', generation, company));
    });
    for (let member = 0; member < members; member++) {
      weights.set(populations[0][member]);
      weights.set(populations[1][member], width);
      const player = linearPlayer(weights);
      const { returns } = playEpisodes(game, [player, player], episodes, seed * 1_000_003 + generation);
      for (let company = 0; company < 2; company++) {
        let total = 0;
        for (let episode = 0; episode < episodes; episode++) total += returns[episode * 2 + company];
        fitness[company][member] = total / episodes;
      }
    }
    months += perGeneration;
    searches.forEach((search, company) => {
      search.tell(fitness[company]);
    });
    generation++;
    options.onGeneration?.(generation, average(fitness[0]), average(fitness[1]), months);
  }
  return { weights: searches.flatMap((search) => [...search.mean]), generations: generation, months };
}

function average(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
