/** What must hold of the stag hunt and of all games' rules: the checker, equal seats, what scripted players reach, and what PPO learns. The city has a page of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkGame } from '../../src/games/check.ts';
import type { GridGame } from '../../src/games/grid/grid.ts';
import { randomPlay } from '../../src/games/grid/random-play.ts';
import { gameMaker, makeGame } from '../../src/games/index.ts';
import { meanBySeat, playEpisodes } from '../../src/games/play.ts';
import { makePlayer } from '../../src/games/players.ts';
import { mean } from '../../src/math/statistics.ts';
import { validate } from '../../src/recording/check/validate.ts';
import { openRecording } from '../../src/recording/node.ts';
import { trainInto } from '../../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import { train } from '../../src/training/run.ts';
import { groupsDiffer } from '../games/groups.ts';
import { type Figure, figure } from '../support.ts';

type Size = 'full' | 'reduced';
type Say = (line: string) => void;

export async function accept(say: Say, size: Size): Promise<Figure[]> {
  return [
    ...checked(say, size),
    ...seats(say, size),
    ...(await selfPlay(say, size)),
    ...(await besideScripted(say, size)),
    ...(await recordings(say, size)),
  ];
}

function checked(say: Say, size: Size): Figure[] {
  say('the checker on every game ...');
  const names = ['stag-hunt', 'stag-hunt/8x8-4h1s', 'snowdrift', 'city', 'city-dilemma', 'echo'];
  const findings = names.flatMap((name) => checkGame(gameMaker(name), { episodes: size === 'full' ? 40 : 3 }).findings);
  const what = `findings of checkGame on ${names.length} games`;
  return [figure(what, findings.length, '', { most: 0 }, String(findings[0] ?? ''))];
}

/** Two one-sided tests: every difference of two seats' means lies within 1 % of the common mean, at the 0.001 level. */
function seats(say: Say, size: Size): Figure[] {
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
  const scripted = ['nearest-stag', 'nearest-hare'].map((name) => {
    const game = makeGame('stag-hunt', {}, 64);
    const four = Array.from({ length: 4 }, () => makePlayer(name, game));
    return mean(meanBySeat(playEpisodes(game, four, size === 'full' ? 50_000 : 2000, 1)).map((seat) => seat.mean));
  });
  return [
    figure(`stag hunt, random play: mean return of ${episodes} episodes`, overall, ''),
    // Fewer episodes cannot show 1 %; the reduced instance shows what they can.
    figure(`seats under random play differ by at most (${episodes} episodes, level 0.001)`, 100 * widest, '%', {
      most: size === 'full' ? 1 : 8,
    }),
    figure('four nearest-stag players, mean return', scripted[0], '', { least: 2.7 }),
    figure('four nearest-hare players, mean return', scripted[1], ''),
  ];
}

async function selfPlay(say: Say, size: Size): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const seed of size === 'full' ? [1, 2, 3, 4, 5] : [1]) {
    say(`PPO self-play on the stag hunt, seed ${seed} ...`);
    // Steps are those of the default settings: two million decisions of the four players together.
    const returns = await trained(size === 'full' ? { seed } : { seed, steps: 150_000 }, size);
    const goal = { least: size === 'full' ? 2.87 : 1 };
    figures.push(figure(`stag hunt, PPO self-play, seed ${seed}: mean return`, mean(returns), '', goal));
  }
  return figures;
}

/** One learner has a quarter of the rows, so it learns from small batches. */
const small = {
  worlds: 32,
  rollout: 64,
  network: { hidden: [32, 32] },
  ppo: { epochs: 1, minibatches: 8, learningRate: 2e-3, lambda: 0.9 },
};
/** Beside random players, at discount 0.95, waiting at the stag pays so little more than a hare that the noise of small batches hides it in some seeds. */
const large = { network: { hidden: [32, 32] }, ppo: { epochs: 2, minibatches: 8 } };

/** In the long run every hare is sure and a partner at the stag comes by chance: small or hasty updates settle for hares in some seeds. */
const patient = { network: { hidden: [32, 32] }, ppo: { epochs: 4, minibatches: 8, lambda: 0.98 } };

/** Who the others are, the discount, what the learner must reach in every seat, after how many of its own steps, and with which settings. */
const partners: [name: string, gamma: number, least: number, steps: number, settings: Record<string, unknown>][] = [
  ['nearest-stag', 0.95, 2.78, 400_000, small],
  ['nearest-hare', 0.95, 0.95, 400_000, small],
  ['random', 0.95, 1.15, 300_000, large],
  ['random', 0.99, 1.95, 1_600_000, patient],
];

/** One learner in each seat in turn. Two seeds each tell differences of seats from differences of runs. */
async function besideScripted(say: Say, size: Size): Promise<Figure[]> {
  const figures: Figure[] = [];
  const bySeat: number[][][] = [];
  for (const [partner, gamma, least, steps, chosen] of size === 'full' ? partners : partners.slice(0, 1)) {
    const reached: number[][] = [];
    for (const seat of size === 'full' ? [0, 1, 2, 3] : [2]) {
      reached.push([]);
      for (const seed of size === 'full' ? [1, 2] : [1]) {
        say(`one learner in seat ${seat + 1} beside three ${partner}, discount ${gamma}, seed ${seed} ...`);
        const players = Array.from({ length: 4 }, (_, i) => (i === seat ? 'learn' : partner));
        const own = { seed, steps: size === 'full' ? steps : 60_000, players, ppo: { gamma } };
        const settings = mergeSettings(chosen, own);
        reached[reached.length - 1].push((await trained(settings, size))[seat]);
      }
      const what = `one learner in seat ${seat + 1} beside three ${partner}, discount ${gamma}: its return`;
      figures.push(figure(what, mean(reached[reached.length - 1]), '', { least: size === 'full' ? least : 1 }));
    }
    bySeat.push(reached);
  }
  if (size === 'full') {
    const chance = groupsDiffer(bySeat, 10_000, 1);
    figures.push(
      figure('one learner: chance of seats that differ as much, if they are alike', chance, '', { least: 0.05 }),
    );
  }
  return figures;
}

async function recordings(say: Say, size: Size): Promise<Figure[]> {
  let problems = 0;
  let rows = 0;
  const names = ['stag-hunt', 'snowdrift'];
  for (const game of names) {
    say(`a recording of ${game} ...`);
    const folder = await mkdtemp(join(tmpdir(), 'trueline-games-'));
    try {
      const steps = size === 'full' ? 200_000 : 12_000;
      // The live guard takes longer than a short training and adds nothing to its recording.
      const guard = size === 'full' ? 'warn' : 'off';
      const settings = mergeSettings(recommendedSettings(game), { game, steps, worlds: 64, guard });
      (await trainInto(join(folder, 'run'), settings)).dispose();
      const found = await validate(await openRecording(join(folder, 'run')));
      problems += found.problems.length;
      rows += found.rows.samples;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }
  const what = `problems that validate finds in recordings of ${names.join(' and ')}`;
  return [figure(what, problems, '', { most: 0 }, `${rows} rows of samples`)];
}

/** Returns by seat of sampled play on fresh episodes. */
async function trained(settings: Record<string, unknown>, size: Size): Promise<number[]> {
  const run = await train(mergeSettings(recommendedSettings('stag-hunt'), { game: 'stag-hunt', ...settings }));
  const returns = run.evaluate(size === 'full' ? 20_000 : 2000, 99).map((item) => item.mean);
  run.dispose();
  return returns;
}
