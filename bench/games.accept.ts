/** What must hold of the games: their checker, equal seats under random play, what scripted players reach, and what PPO learns. */
import { checkGame } from '../src/games/check.ts';
import type { GridGame } from '../src/games/grid/grid.ts';
import { randomPlay } from '../src/games/grid/random-play.ts';
import { gameMaker, makeGame } from '../src/games/index.ts';
import { meanBySeat, playEpisodes } from '../src/games/play.ts';
import { makePlayer } from '../src/games/players.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { train } from '../src/training/run.ts';
import { bench } from './games.bench.ts';
import { type Figure, figure } from './support.ts';

type Size = 'full' | 'reduced';

export async function accept(say: (line: string) => void, size: Size): Promise<Figure[]> {
  return [
    ...checked(say, size),
    ...seats(say, size),
    ...(await bench(say, size === 'full' ? 4 : 0.02)),
    ...(await learnt(say, size)),
  ];
}

function checked(say: (line: string) => void, size: Size): Figure[] {
  say('the checker on every game ...');
  const names = ['stag-hunt', 'stag-hunt/8x8-4h1s', 'snowdrift', 'city', 'city-dilemma', 'echo'];
  const findings = names.flatMap((name) => checkGame(gameMaker(name), { episodes: size === 'full' ? 40 : 3 }).findings);
  return [
    figure(
      `findings of checkGame on ${names.length} games`,
      findings.length,
      '',
      { most: 0 },
      String(findings[0] ?? ''),
    ),
  ];
}

/** Two one-sided tests: every difference of two seats' means lies within 1 % of the common mean, at the 0.001 level. */
function seats(say: (line: string) => void, size: Size): Figure[] {
  const episodes = size === 'full' ? 1_000_000 : 20_000;
  say(`random play of the stag hunt, ${episodes} episodes ...`);
  const { sum, products } = randomPlay(makeGame('stag-hunt', {}, 1) as GridGame, episodes, 1);
  const players = sum.length;
  const overall = sum.reduce((a, b) => a + b, 0) / players / episodes;
  const covariance = (i: number, j: number) =>
    products[i * players + j] / episodes - (sum[i] / episodes) * (sum[j] / episodes);
  let widest = 0;
  for (let i = 0; i < players; i++) {
    for (let j = 0; j < i; j++) {
      const difference = Math.abs(sum[i] - sum[j]) / episodes;
      const error = Math.sqrt((covariance(i, i) + covariance(j, j) - 2 * covariance(i, j)) / episodes);
      // 3.09 is the upper 0.001 point of the normal distribution.
      widest = Math.max(widest, (difference + 3.09 * error) / overall);
    }
  }
  const game = makeGame('stag-hunt', {}, 64);
  const nearest = Array.from({ length: 4 }, () => makePlayer('nearest-stag', game));
  const played = meanBySeat(playEpisodes(game, nearest, size === 'full' ? 50_000 : 2000, 1));
  const mean = played.reduce((total, seat) => total + seat.mean, 0) / played.length;
  return [
    // Fewer episodes cannot show 1 %; the reduced instance shows what they can.
    figure(`seats under random play differ by at most (${episodes} episodes, level 0.001)`, 100 * widest, '%', {
      most: size === 'full' ? 1 : 8,
    }),
    figure('four nearest-stag players, mean return', mean, '', { least: 2.7 }),
  ];
}

async function learnt(say: (line: string) => void, size: Size): Promise<Figure[]> {
  const figures: Figure[] = [];
  const seeds = size === 'full' ? [1, 2, 3, 4, 5] : [1];
  const steps = size === 'full' ? 2_000_000 : 150_000;
  const fresh = size === 'full' ? 20_000 : 2000;
  for (const seed of seeds) {
    say(`PPO self-play on the stag hunt, seed ${seed} ...`);
    const returns = await trained({ seed, steps }, fresh);
    const mean = returns.reduce((total, value) => total + value, 0) / returns.length;
    figures.push(
      figure(`stag hunt, PPO self-play, seed ${seed}: mean return`, mean, '', { least: size === 'full' ? 2.87 : 1 }),
    );
  }
  const partners: [name: string, gamma: number, least: number][] = [
    ['nearest-stag', 0.95, 2.78],
    ['nearest-hare', 0.95, 0.95],
    ['random', 0.95, 1.15],
    ['random', 0.99, 1.95],
  ];
  for (const [partner, gamma, least] of size === 'full' ? partners : partners.slice(0, 1)) {
    for (const seat of size === 'full' ? [0, 1, 2, 3] : [2]) {
      say(`one learner in seat ${seat + 1} beside three ${partner}, discount ${gamma} ...`);
      const players = Array.from({ length: 4 }, (_, i) => (i === seat ? 'learn' : partner));
      const returns = await trained(
        { seed: 1, steps: size === 'full' ? 1_000_000 : 60_000, players, ppo: { gamma } },
        fresh,
      );
      const goal = size === 'full' ? least : 1;
      figures.push(
        figure(
          `one learner in seat ${seat + 1} beside three ${partner}, discount ${gamma}: its return`,
          returns[seat],
          '',
          { least: goal },
        ),
      );
    }
  }
  return figures;
}

async function trained(settings: Record<string, unknown>, episodes: number): Promise<number[]> {
  const run = await train(
    mergeSettings(recommendedSettings('stag-hunt') as Record<string, unknown>, { game: 'stag-hunt', ...settings }),
  );
  const returns = run.evaluate(episodes, 99).map(({ mean }) => mean);
  run.dispose();
  return returns;
}
