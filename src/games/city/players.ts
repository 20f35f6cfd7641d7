/** Scripted players of the city. All choose among the candidates of the pick at hand; none knows what the next list will offer. */
import { told } from '../../language/language.ts';
import { RandomStream } from '../../math/random.ts';
import type { Game } from '../game.ts';
import type { Player } from '../players.ts';
import { GameRefusal } from '../refusal.ts';
import { type CandidateFigures, candidateFeatures } from './candidates.ts';
import { City } from './game.ts';
import { linearWeights } from './weights.ts';

function asCity(game: Game, player: string): City {
  if (game instanceof City) return game;
  throw new GameRefusal(
    told(
      `The player ${player} plays the city and cannot play ${game.name}.`,
      `玩家 ${player} 只玩 city，不能玩 ${game.name}。`,
    ),
  );
}

/** STOP is always the last candidate. */
function stopOf(game: Game, place: number): number {
  return game.numActions[place] - 1;
}

export const alwaysStop: Player = { name: 'always-stop', listsOnly: true, act: (game, place) => stopOf(game, place) };

/** Takes the legal candidate of the highest worth above 0 that leaves no more than `debt` of debt; otherwise STOP. */
export function greedyPlayer(
  name: string,
  debt: number,
  worth: (figures: CandidateFigures, at: number) => number,
): Player {
  return {
    name,
    act(game, place) {
      const city = asCity(game, name);
      const first = place * city.shape.candidates;
      const cash = city.city.cash[place];
      const stop = stopOf(game, place);
      let best = stop;
      let highest = 0;
      for (let i = 0; i < stop; i++) {
        const at = first + i;
        if (city.legal[at] === 0 || cash - city.figures.cost[at] < -debt) continue;
        const value = worth(city.figures, at);
        if (value > highest) {
          highest = value;
          best = i;
        }
      }
      return best;
    },
  };
}

/** Greedy by score per cost: the score is the monthly net income as the neighbours are now. No debt. */
export const greedyScore = greedyPlayer('greedy-score', 0, (f, at) => f.net[at] / f.cost[at]);

/** Greedy by a year's reward: twelve months of net income less the cost. No debt. */
export const greedyYear = greedyPlayer('greedy-year', 0, (f, at) => 12 * f.net[at] - f.cost[at]);

/** Greedy by profit to the end per cost, with debt up to 2000. */
export const greedyProfit = greedyPlayer('greedy-profit', 2000, (f, at) => f.profit[at] / f.cost[at]);

/** The same, counting what a building costs its own neighbours. */
export const greedyNeighbours = greedyPlayer(
  'greedy-neighbours',
  2000,
  (f, at) => (f.profit[at] - f.ownLoss[at]) / f.cost[at],
);

/**
 * Tries every candidate that greedy-neighbours could take, and STOP, by greedy play of both companies to the end, and takes the one with
 * the highest own return. All candidates meet the same chances.
 */
export function lookAheadPlayer(rollouts = 4, guide: Player = greedyNeighbours): Player {
  const name = 'look-ahead';
  let scratch: City | undefined;
  return {
    name,
    act(game, place, stream) {
      const city = asCity(game, name);
      if (scratch?.settings !== city.settings) scratch = new City(city.name, city.settings, 1);
      const world = place >> 1;
      const company = place & 1;
      const first = place * city.shape.candidates;
      const cash = city.city.cash[place];
      const stop = stopOf(game, place);
      const saved = city.save(world);
      const chances = Array.from({ length: rollouts }, () =>
        RandomStream.of(stream.int32(), 'rollout', stream.int32()).state(),
      );
      let best = stop;
      let highest = Number.NEGATIVE_INFINITY;
      for (let i = 0; i <= stop; i++) {
        const at = first + i;
        if (city.legal[at] === 0 || cash - city.figures.cost[at] < -2000) continue;
        if (i < stop && city.figures.profit[at] <= 0) continue;
        let total = 0;
        for (const chance of chances) {
          for (let j = 0; j < 4; j++) saved[j] = chance[j];
          scratch.load(0, saved);
          total += playOut(scratch, company, i, guide, stream);
        }
        if (total > highest) {
          highest = total;
          best = i;
        }
      }
      return best;
    },
  };
}

/** The own reward of a choice and of everything after it. */
function playOut(city: City, company: number, choice: number, guide: Player, stream: RandomStream): number {
  city.stepWorld(0, choice);
  let total = city.reward[company];
  while (city.over[0] === 0) {
    city.stepWorld(0, guide.act(city, city.turn[0], stream));
    total += city.reward[company];
  }
  return total;
}

/** Scores each placement by a weighted sum of its features and takes the best above 0, otherwise STOP. Weights: IND's, then EDU's. */
export function linearPlayer(weights: ArrayLike<number>, name = 'linear'): Player {
  const width = candidateFeatures.length;
  if (weights.length !== 2 * width) {
    throw new RangeError(
      `A linear player of the city needs ${2 * width} weights, ${width} for each company, and got ${weights.length}.`,
    );
  }
  return {
    name,
    act(game, place) {
      const city = asCity(game, name);
      const first = place * city.shape.candidates;
      const stop = stopOf(game, place);
      const own = (place & 1) * width;
      let best = stop;
      let highest = 0;
      for (let i = 0; i < stop; i++) {
        if (city.legal[first + i] === 0) continue;
        const f = (first + i) * width;
        let score = 0;
        for (let j = 0; j < width; j++) score += weights[own + j] * city.candidateFeatures[f + j];
        if (score > highest) {
          highest = score;
          best = i;
        }
      }
      return best;
    },
  };
}

/** The city's players by name. */
export const cityPlayers: Readonly<Record<string, () => Player>> = {
  'always-stop': () => alwaysStop,
  'greedy-score': () => greedyScore,
  'greedy-year': () => greedyYear,
  'greedy-profit': () => greedyProfit,
  'greedy-neighbours': () => greedyNeighbours,
  'look-ahead': () => lookAheadPlayer(),
  linear: () => linearPlayer(linearWeights),
};
