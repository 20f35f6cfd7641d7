/** What must hold of the city: the ladder of scripted players, and what PPO and MAPPO learn on fewer simulated months than evolution had. Learnt policies are judged by sampled play. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeGame } from '../../src/games/index.ts';
import { type Mean, meanBySeat, playEpisodes } from '../../src/games/play.ts';
import { makePlayer } from '../../src/games/players.ts';
import { mean } from '../../src/math/statistics.ts';
import { validate } from '../../src/recording/check/validate.ts';
import { openRecording } from '../../src/recording/node.ts';
import { trainInto } from '../../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import type { TrainResult } from '../../src/training/run.ts';
import { type Figure, figure } from '../support.ts';

type Size = 'full' | 'reduced';
type Say = (line: string) => void;

/** From the lowest rung to the highest. */
export const rungs = [
  'always-stop',
  'random',
  'greedy-score',
  'greedy-year',
  'greedy-profit',
  'greedy-neighbours',
  'look-ahead',
  'linear',
] as const;
type Rung = (typeof rungs)[number];

/** The months that the shipped evolution of the linear player had. */
const evolutionMonths = 996_480;
const companies = ['IND', 'EDU'] as const;

export async function accept(say: Say, size: Size): Promise<Figure[]> {
  const ladder = new Map<Rung, Mean[]>();
  const figures: Figure[] = [];
  for (const rung of rungs) {
    // Look-ahead plays some hundred games for every decision.
    const episodes = size === 'full' ? (rung === 'look-ahead' ? 100 : 2000) : rung === 'look-ahead' ? 1 : 60;
    say(`the ladder: ${rung}, ${episodes} episodes ...`);
    const game = makeGame('city', {}, 32);
    const player = makePlayer(rung, game);
    const means = meanBySeat(playEpisodes(game, [player, player], episodes, 1));
    ladder.set(rung, means);
    companies.forEach((company, c) => {
      figures.push(figure(`city, ${rung}: ${company}`, means[c].mean, '', undefined, interval(means[c])));
    });
  }
  figures.push(rungsInOrder(ladder, size));
  for (const algorithm of ['ppo', 'mappo'] as const) figures.push(...(await learnt(say, size, algorithm, ladder)));
  return figures;
}

function interval({ halfWidth }: Mean): string {
  return `+- ${halfWidth.toFixed(3)} (95 %)`;
}

/** Both companies gain with every step up the ladder. */
function rungsInOrder(ladder: ReadonlyMap<Rung, Mean[]>, size: Size): Figure {
  const wrong: string[] = [];
  // An episode of look-ahead cannot tell it from its neighbours.
  const judged = size === 'full' ? rungs : rungs.filter((rung) => rung !== 'look-ahead');
  for (let i = 1; i < judged.length; i++) {
    companies.forEach((company, c) => {
      const below = ladder.get(judged[i - 1])![c];
      const above = ladder.get(judged[i])![c];
      if (above.mean - above.halfWidth <= below.mean + below.halfWidth) wrong.push(`${company}: ${judged[i]}`);
    });
  }
  return figure(
    'city: rungs not above the one before, intervals apart',
    wrong.length,
    '',
    { most: 0 },
    wrong.join(', '),
  );
}

/** Upper 2.5 % points of Student's t for 1 to 4 degrees of freedom. */
const students = [12.706, 4.303, 3.182, 2.776];

async function learnt(
  say: Say,
  size: Size,
  algorithm: 'ppo' | 'mappo',
  ladder: ReadonlyMap<Rung, Mean[]>,
): Promise<Figure[]> {
  const seeds = size === 'full' ? [1, 2, 3, 4, 5] : [1];
  // Three times the steps of the recommended settings; less than half of evolution's months.
  const steps = size === 'full' ? 1_350_000 : 20_000;
  const bySeed: number[][] = [];
  let months = 0;
  let problems = 0;
  let own: Mean[] = [];
  for (const seed of seeds) {
    const folder = await mkdtemp(join(tmpdir(), 'trueline-city-'));
    // The live guard takes longer than a short training and adds nothing to its recording.
    const guard = size === 'full' ? 'warn' : 'off';
    const settings = mergeSettings(recommendedSettings('city'), { game: 'city', algorithm, seed, steps, guard });
    try {
      const run = await trainInto(join(folder, 'run'), settings);
      months = Math.max(months, monthsOf(run));
      const returns = run.evaluate(size === 'full' ? 2000 : 256, 1000 + seed);
      run.dispose();
      bySeed.push(returns.map((item) => item.mean));
      own = returns.map((item) => ({ mean: item.mean, halfWidth: 1.96 * item.standardError, episodes: item.episodes }));
      problems += (await validate(await openRecording(join(folder, 'run')))).problems.length;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    say(
      `${algorithm} on the city, seed ${seed}: ${bySeed[bySeed.length - 1].map((value) => value.toFixed(3)).join(' / ')}`,
    );
  }
  const figures: Figure[] = [
    figure(`city, ${algorithm}: simulated months`, months, '', { most: evolutionMonths }),
    figure(`city, ${algorithm}: problems that validate finds in the recordings`, problems, '', { most: 0 }),
  ];
  companies.forEach((company, c) => {
    // Between seeds where there are several; within the one run otherwise.
    const over = seeds.length > 1 ? overSeeds(bySeed.map((returns) => returns[c])) : own[c];
    const beaten = size === 'full' ? (['greedy-profit', 'linear'] as const) : (['random'] as const);
    figures.push(figure(`city, ${algorithm}: ${company}`, over.mean, '', undefined, interval(over)));
    for (const rung of beaten) {
      const theirs = ladder.get(rung)![c];
      const gap = over.mean - over.halfWidth - (theirs.mean + theirs.halfWidth);
      figures.push(figure(`city, ${algorithm}: ${company}'s interval above that of ${rung} by`, gap, '', { least: 0 }));
    }
  });
  return figures;
}

function monthsOf(run: TrainResult): number {
  const { settings, iteration } = run.trainer;
  const { months } = run.trainer.game.settings as { months: number };
  return iteration * settings.worlds * settings.rollout * months;
}

function overSeeds(values: readonly number[]): Mean {
  const centre = mean(values);
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1);
  const halfWidth = students[values.length - 2] * Math.sqrt(variance / values.length);
  return { mean: centre, halfWidth, episodes: values.length };
}
