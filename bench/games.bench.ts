/** How fast the games are played: random play on one core. */
import { City } from '../src/games/city/game.ts';
import { GridGame } from '../src/games/grid/grid.ts';
import { randomPlay } from '../src/games/grid/random-play.ts';
import { makeGame } from '../src/games/index.ts';
import { playEpisodes } from '../src/games/play.ts';
import { makePlayer } from '../src/games/players.ts';
import { type Figure, figure, median } from './support.ts';

export async function bench(say: (line: string) => void, size = 1): Promise<Figure[]> {
  say('random play of the stag hunt and of the city ...');
  const hunt = makeGame('stag-hunt', {}, 1);
  const city = makeGame('city', {}, 32);
  if (!(hunt instanceof GridGame) || !(city instanceof City)) throw new Error('the games are not what they were');
  const steps: number[] = [];
  const decisions: number[] = [];
  const players = city.shape.roles?.map(() => makePlayer('random', city)) ?? [];
  for (let round = 0; round < 5; round++) {
    let begun = performance.now();
    const { agentSteps } = randomPlay(hunt, 50_000 * size, round);
    steps.push(agentSteps / (performance.now() - begun) / 1000);
    begun = performance.now();
    const played = playEpisodes(city, players, Math.ceil(400 * size), round);
    decisions.push(played.decisions.reduce((sum, count) => sum + count, 0) / (performance.now() - begun));
  }
  return [
    figure('stag hunt: random play, million agent-steps a second, one core', median(steps), 'M/s', { least: 10 }),
    figure('city: random play, thousand decisions a second, one core', median(decisions), 'k/s', { least: 200 }),
  ];
}
