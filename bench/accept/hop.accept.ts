/** What must hold of HOP+ and of HOP's planner: what four separate agents learn, how good their modules are on play that none was trained on, and that its recordings are healthy. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ModuleErrors } from '../../src/algorithms/hop/agent.ts';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { gameMaker } from '../../src/games/index.ts';
import { mean } from '../../src/math/statistics.ts';
import { validate } from '../../src/recording/check/validate.ts';
import { openRecording } from '../../src/recording/node.ts';
import { trainInto } from '../../src/training/node.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import { type ProgressReport, type TrainResult, train } from '../../src/training/run.ts';
import { measureModules } from '../hop/measure.ts';
import { bench, fullHopBench } from '../hop.bench.ts';
import { searchGains } from '../hop-adapt.bench.ts';
import { type Figure, figure } from '../support.ts';

type Size = 'full' | 'reduced';

const settings = (size: Size, seed: number) =>
  mergeSettings(
    recommendedSettings('stag-hunt') as Record<string, unknown>,
    { game: 'stag-hunt', algorithm: 'hop', hop: { without: [] }, seed },
    size === 'full'
      ? { steps: 2_000_000 }
      : { steps: 60_000, worlds: 64, hop: { worldModel: { early: 100 }, otherAgents: { updates: 12 } } },
  );

export async function accept(say: (line: string) => void, size: Size): Promise<Figure[]> {
  const reduced = { warmUp: 1, iterations: 1, rounds: 1, settings: { worlds: 32 } };
  const figures = [...(await learnt(say, size)), ...(await recorded(say, size)), ...(await planning(say, size))];
  const speeds = await bench(say, size === 'full' ? fullHopBench : reduced);
  // Speed means nothing on a machine that does other things, so the reduced instance only shows that it is measured.
  return [...figures, ...(size === 'full' ? speeds : speeds.map(({ goal: _goal, met: _met, ...rest }) => rest))];
}

async function learnt(say: (line: string) => void, size: Size): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const seed of size === 'full' ? [1, 2, 3, 4, 5] : [1]) {
    say(`HOP+ self-play on the stag hunt, seed ${seed} ...`);
    const reports: ProgressReport[] = [];
    const run = await train(settings(size, seed), { onIteration: (report) => reports.push(report) });
    const returns = run.evaluate(size === 'full' ? 20_000 : 1000, 99).map((agent) => agent.mean);
    figures.push(
      figure(`four separate agents, seed ${seed}: mean return`, mean(returns), '', {
        least: size === 'full' ? 2.87 : 0.7,
      }),
      figure(
        `seed ${seed}: value losses of two agents in one iteration differ by at most`,
        Math.max(...reports.map(({ readings }) => apart(readings.map((reading) => reading.value_loss)))),
        'times',
        { most: 10 },
      ),
      figure(
        `seed ${seed}: an agent's value loss is at most so many times its median`,
        Math.max(
          ...run.trainer.learners.map(({ index }) => peak(reports.map(({ readings }) => readings[index].value_loss))),
        ),
        'times',
        { most: 10 },
      ),
      ...quality(run, seed, size),
    );
    run.dispose();
  }
  return figures;
}

const apart = (losses: readonly number[]) => Math.max(...losses) / Math.min(...losses);

function peak(losses: readonly number[]): number {
  const sorted = [...losses].sort((a, b) => a - b);
  return sorted[sorted.length - 1] / sorted[sorted.length >> 1];
}

/** On fresh episodes, so that no module has seen any of it; the weakest agent counts. */
function quality({ trainer }: TrainResult, seed: number, size: Size): Figure[] {
  const make = gameMaker('stag-hunt');
  const episodes = size === 'full' ? 400 : 60;
  const own = measureModules(trainer, make, { play: 'learnt', episodes, seed });
  const random = measureModules(trainer, make, { play: 'random', episodes: episodes / 4, seed });
  const right = (pick: (errors: ModuleErrors) => number) => (errors: ModuleErrors[]) =>
    Math.min(...errors.map((error) => 1 - pick(error)));
  const cells = right((errors) => errors.worldModel!.cells);
  const catches = right((errors) => errors.worldModel!.catches);
  const reward = (errors: ModuleErrors[]) => Math.max(...errors.map((error) => error.worldModel!.reward));
  const others = own.map((errors) => errors.otherAgents!);
  const subgoals = own.map((errors) => errors.subgoals!);
  const full = size === 'full';
  const named = (what: string) => `seed ${seed}: ${what}`;
  return [
    figure(
      named("other agents' choices foreseen, of the best possible"),
      Math.min(...others.map((e) => e.right / e.best)),
      '',
      { least: full ? 0.9 : 0.7 },
    ),
    figure(named('choices foreseen above the majority'), Math.min(...others.map((e) => e.right - e.majority)), '', {
      least: full ? 0.2 : 0,
    }),
    figure(named("every player's next cell right, in steps of learnt play"), cells(own), '', { least: 0.99 }),
    figure(named('the same, in steps of random play'), cells(random), '', { least: 0.99 }),
    figure(named('who catches what, in catches of learnt play'), catches(own), '', { least: full ? 0.98 : 0.9 }),
    figure(named('the same, in catches of random play'), catches(random), ''),
    figure(named('mean error of rewards, learnt play'), reward(own), '', { most: 0.05 }),
    figure(named('the same, random play'), reward(random), ''),
    figure(
      named('nats of a subgoal rebuilt from the posterior, of those from the prior alone'),
      Math.max(...subgoals.map((e) => e.posterior / e.prior)),
      '',
      { most: full ? 0.9 : 1 },
    ),
    figure(
      named("the same, of those from each entry's own frequency"),
      Math.max(...subgoals.map((e) => e.posterior / e.constant)),
      '',
      full ? { most: 1 } : undefined,
    ),
  ];
}

/** On a few moves a search has nothing to be better at, so the reduced instance only shows that it is measured. */
async function planning(say: (line: string) => void, size: Size): Promise<Figure[]> {
  if (size === 'full') return searchGains(say);
  const folder = mkdtempSync(join(tmpdir(), 'trueline-planning-'));
  try {
    const tiny = {
      seeds: [1, 2],
      settings: () => ({ steps: 1000, worlds: 8, rollout: 16, planner: { simulations: 8, samples: 2 } }),
      lives: () => 8,
      episodes: () => 2,
      steps: 100,
    };
    const figures = await searchGains(say, tiny, ['4h2s'], { runs: folder, results: folder });
    return figures.map(({ goal: _goal, met: _met, ...rest }) => rest);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function recorded(say: (line: string) => void, size: Size): Promise<Figure[]> {
  say('a recorded run, and what the doctor says of it ...');
  const folder = mkdtempSync(join(tmpdir(), 'trueline-hop-'));
  try {
    const run = await trainInto(
      join(folder, 'run'),
      mergeSettings(settings('reduced', 7), { steps: size === 'full' ? 200_000 : 12_000 }),
    );
    run.dispose();
    const recording = await openRecording(join(folder, 'run'));
    const { problems } = await validate(recording);
    const { verdict, causes } = await diagnose(recording);
    return [
      figure('problems of its recording', problems.length, '', { most: 0 }, problems[0] ?? ''),
      figure(
        'causes that the doctor names',
        verdict === 'healthy' ? 0 : Math.max(1, causes.length),
        '',
        { most: 0 },
        causes[0]?.id ?? verdict,
      ),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
