/** How fast the games are: random play on one core, and the time to learn the stag hunt beside PyTorch. */
import { City } from '../src/games/city/game.ts';
import { GridGame } from '../src/games/grid/grid.ts';
import { randomPlay } from '../src/games/grid/random-play.ts';
import { makeGame } from '../src/games/index.ts';
import { playEpisodes } from '../src/games/play.ts';
import { makePlayer } from '../src/games/players.ts';
import { timeToGoal } from './games/time-to-goal.ts';
import { type Figure, figure, median } from './support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

export async function bench(say: (line: string) => void): Promise<Figure[]> {
  return [...randomPlaySpeed(say), ...(await timeToGoal(say, [1, 2, 3]))];
}

function randomPlaySpeed(say: (line: string) => void): Figure[] {
  say('random play of the stag hunt and of the city ...');
  const hunt = makeGame('stag-hunt', {}, 1);
  const city = makeGame('city', {}, 8);
  if (!(hunt instanceof GridGame) || !(city instanceof City)) throw new Error('the games are not what they were');
  const steps: number[] = [];
  const decisions: number[] = [];
  const players = city.shape.roles?.map(() => makePlayer('random', city)) ?? [];
  for (let round = 0; round < 9; round++) {
    let begun = performance.now();
    const { agentSteps } = randomPlay(hunt, 50_000, round);
    steps.push(agentSteps / (performance.now() - begun) / 1000);
    begun = performance.now();
    const played = playEpisodes(city, players, 400, round);
    decisions.push(played.decisions.reduce((sum, count) => sum + count, 0) / (performance.now() - begun));
  }
  return [
    figure('stag hunt: random play, million agent-steps a second, one core', median(steps), 'M/s', { least: 10 }),
    figure('city: random play, thousand decisions a second, one core', median(decisions), 'k/s', { least: 200 }),
  ];
}
