/** Time from nothing to a running mean of 2.85 on the stag hunt: ours beside the same algorithm in PyTorch over a numpy-vectorised game, both with the settings of examples/stag-hunt-fast.json. Starting the programs and loading their libraries is not counted for either. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createEngine } from '../../src/net/engine.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import { readSettings, type Settings } from '../../src/training/settings.ts';
import { Trainer } from '../../src/training/trainer.ts';
import { type Figure, figure, median, output, python } from '../support.ts';

const root = join(fileURLToPath(new URL('.', import.meta.url)), '..', '..', '..');
const program = join(root, 'bench', 'torch', 'stag_hunt.py');
const config = join(root, 'examples', 'stag-hunt-fast.json');
/** The mean over the four players that must be reached, over how many of the latest episodes, and the steps after which a run gives up. */
const goal = 2.85;
const window = 4000;
const mostSteps = 2_000_000;

interface Reached {
  seconds: number;
  steps: number;
  mean: number;
  reached: boolean;
}

/** Iterations count whole: the window holds the fewest latest ones that have 4,000 episodes together. The PyTorch program does the same. */
async function ours(settings: Settings, seed: number): Promise<Reached> {
  const begun = performance.now();
  const engine = await createEngine();
  const trainer = new Trainer({ ...settings, seed }, { engine });
  const blocks: { episodes: number; total: number }[] = [];
  const sum = (of: typeof blocks, what: 'episodes' | 'total') => of.reduce((all, block) => all + block[what], 0);
  let mean = 0;
  let reached = false;
  while (!reached && trainer.steps < mostSteps) {
    const { returns } = await trainer.iterate();
    const [{ episodes }] = returns;
    if (episodes > 0)
      blocks.push({ episodes, total: (episodes * returns.reduce((all, item) => all + item.mean, 0)) / returns.length });
    while (sum(blocks.slice(1), 'episodes') >= window) blocks.shift();
    const counted = sum(blocks, 'episodes');
    mean = counted > 0 ? sum(blocks, 'total') / counted : 0;
    reached = counted >= window && mean >= goal;
  }
  const seconds = (performance.now() - begun) / 1000;
  engine.dispose();
  return { seconds, steps: trainer.steps, mean, reached };
}

function torch(path: string, settings: Settings, threads: number, seed: number): Reached {
  // Freed memory is kept: giving it back to the system costs a page fault for each page of the next tensor.
  const env = {
    OMP_NUM_THREADS: String(threads),
    OPENBLAS_NUM_THREADS: String(threads),
    MALLOC_ARENA_MAX: '1',
    MALLOC_TRIM_THRESHOLD_: '2000000000',
    MALLOC_MMAP_THRESHOLD_: '2000000000',
  };
  const { worlds, rollout, ppo, network } = settings;
  const words = [threads, seed, goal, mostSteps, JSON.stringify({ worlds, rollout, ppo, network })].map(String);
  return JSON.parse(output(path, ['-W', 'ignore', program, ...words], env));
}

/** PyTorch on one thread and on two with the first seed; the faster of them goes on. A run of theirs that gives up is not counted, which is to their advantage. */
export async function timeToGoal(say: (line: string) => void, seeds: readonly number[]): Promise<Figure[]> {
  const path = python('torch', 'numpy');
  const recommended = mergeSettings(recommendedSettings('stag-hunt'), { game: 'stag-hunt' });
  const settings = readSettings(mergeSettings(recommended, JSON.parse(readFileSync(config, 'utf8'))));
  const mine: Reached[] = [];
  const theirs: Reached[] = [];
  let threads = 1;
  const tell = (who: string, seed: number, { seconds, steps, mean }: Reached) =>
    say(`${who}, seed ${seed}: ${seconds.toFixed(1)} s, ${steps} agent-steps, running mean ${mean.toFixed(3)}`);
  for (const [i, seed] of seeds.entries()) {
    mine.push(await ours(settings, seed));
    tell('ours', seed, mine[i]);
    const tried = (i === 0 ? [1, 2] : [threads]).map((count) => ({ count, run: torch(path, settings, count, seed) }));
    for (const { count, run } of tried) tell(`PyTorch on ${count}`, seed, run);
    // Seconds per step, because one of them may have given up.
    const [best] = tried.sort((a, b) => a.run.seconds / a.run.steps - b.run.seconds / b.run.steps);
    threads = best.count;
    theirs.push(best.run);
  }
  // Fewer and larger calls suit PyTorch: the same rows in an update, from four times as many worlds.
  const wider = { ...settings, worlds: settings.worlds * 4, rollout: settings.rollout / 4 };
  const wide = torch(path, wider, threads, seeds[0]);
  tell(`PyTorch on ${threads} with ${wider.worlds} worlds`, seeds[0], wide);
  const usual = await ours(readSettings(recommended), seeds[0]);
  tell('ours with the recommended settings', seeds[0], usual);
  const own = median(mine.map((run) => run.seconds));
  const arrived = theirs.filter((run) => run.reached);
  const other = median((arrived.length > 0 ? arrived : theirs).map((run) => run.seconds));
  const rate = (run: Reached) => run.steps / run.seconds;
  const missed = (runs: readonly Reached[]) => runs.filter((run) => !run.reached).length;
  const note = `PyTorch ${other.toFixed(1)} s on ${threads === 1 ? 'one thread' : 'two threads'}${missed(theirs) > 0 ? `, ${missed(theirs)} of ${seeds.length} seeds not there after ${mostSteps} steps` : ''}`;
  return [
    figure('stag hunt: from nothing to 2.85', own, 's', { most: 8 }, `${seeds.length} seeds, medians`),
    figure('stag hunt: the same as a multiple of PyTorch’s speed', other / own, 'x', { least: 3 }, note),
    figure('stag hunt: seeds of ours that did not reach 2.85', missed(mine), '', { most: 0 }),
    figure(
      'stag hunt: agent-steps a second as a multiple of PyTorch’s with four times as many worlds',
      rate(mine[0]) / rate(wide),
      'x',
      undefined,
      `${wide.seconds.toFixed(1)} s for ${wide.steps} steps`,
    ),
    figure('stag hunt: from nothing to 2.85 with the recommended settings', usual.seconds, 's', undefined, 'one seed'),
  ];
}
