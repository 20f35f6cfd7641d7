/** What must hold of the symmetry investigation: silence on fair games and equal agents, the right cause for every asymmetry fault, within the time promised. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asymmetryFaults, type Fault, whyNot } from '../src/faults/index.ts';
import { gameMaker } from '../src/games/index.ts';
import { investigate } from '../src/symmetry/investigate.ts';
import { NodeLaboratory } from '../src/symmetry/node.ts';
import { makePlan } from '../src/symmetry/plan.ts';
import type { Plan } from '../src/symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../src/symmetry/stages/explanation.ts';
import { mergeSettings, recommendedSettings } from '../src/training/recommended.ts';
import { agentNames } from '../src/training/seating.ts';
import { readSettings } from '../src/training/settings.ts';
import { type Figure, figure } from './support.ts';

const game = 'stag-hunt';

/** Settings as `trueline symmetry` takes them. */
function settingsOf(fault: boolean) {
  const own = { game, worlds: 32, rollout: 32, ...(fault ? { guard: 'off' } : {}) };
  return readSettings(mergeSettings(recommendedSettings(game) as Record<string, unknown>, own));
}

async function run(out: string, seed: number, fault: Fault | null, change: Partial<Plan>): Promise<SymmetryDiagnosis> {
  const settings = settingsOf(fault !== null);
  const made = gameMaker(settings.game, settings.gameSettings)(1);
  const names = agentNames(settings, made);
  const { seats } = made.shape;
  const lab = new NodeLaboratory({ settings, names, out, seed, ...(fault ? { fault: { id: fault.id, seed } } : {}) });
  const plan = { ...makePlan(seats, { quick: true, seed }), ...change };
  try {
    return await investigate({
      settings,
      names,
      seats,
      plan,
      lab,
      command: '',
      reports: [],
      audits: null,
      say: () => undefined,
    });
  } finally {
    await lab.close();
  }
}

/** A folder of its own for `work`, gone afterwards. */
async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-symmetry-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  const figures: Figure[] = [];
  const small: Partial<Plan> = full
    ? {}
    : { steps: 12_000, seeds: 4, auditSteps: 12_000, dealtEpisodes: 20_000, learntEpisodes: 100 };
  const repetitions = full ? 20 : 1;
  let accused = 0;
  let equivalent = 0;
  for (let seed = 1; seed <= repetitions; seed++) {
    const begun = performance.now();
    const { causes, stages } = await inFolder((folder) => run(folder, seed, null, small));
    if (causes.length > 0) accused++;
    if (stages.find(({ id }) => id === 'random-play')?.figures.equivalent === true) equivalent++;
    const seconds = (performance.now() - begun) / 1000;
    say(`clean ${seed}: ${causes.map(({ id }) => id).join(', ') || 'nothing claimed'}, ${seconds.toFixed(0)} s`);
    if (seed === 1 && full) figures.push(figure('--quick with ppo', seconds, 's', { most: 300 }));
  }
  figures.push(figure('clean investigations that claim a bias', accused, `of ${repetitions}`, { most: 0 }));
  figures.push(
    figure('clean investigations that state the equivalence of seats', equivalent, `of ${repetitions}`, {
      least: repetitions,
    }),
  );
  figures.push(...(await faults(say, full, small)));
  if (full) figures.push(await whole(say));
  return figures;
}

/** One of each cause where the instance is reduced; every fault with three seeds otherwise. */
async function faults(say: (line: string) => void, full: boolean, small: Partial<Plan>): Promise<Figure[]> {
  const settings = settingsOf(true);
  const fitting = asymmetryFaults.filter((fault) => whyNot(fault, settings) === null);
  const chosen = full
    ? fitting
    : fitting.filter(({ id }) => ['hare-to-lowest-seat', 'order-uses-up-the-step', 'name-paid-more'].includes(id));
  const seeds = full ? [1, 2, 3] : [1];
  const figures: Figure[] = [];
  let right = 0;
  let ties = 0;
  // Play that a fault does not touch is done once for all of them.
  await inFolder(async (folder) => {
    for (const fault of chosen)
      for (const seed of seeds) {
        const { causes } = await run(folder, seed, fault, small);
        const named = causes[0]?.id === fault.cause;
        if (named) right++;
        if (named && fault.id === 'hare-to-lowest-seat') ties++;
        say(
          `${fault.id} ${seed}: ${causes.map(({ id }) => id).join(', ') || 'nothing'}${named ? '' : ` where ${fault.cause} is right`}`,
        );
      }
  });
  const all = chosen.length * seeds.length;
  figures.push(
    figure(
      'asymmetry faults whose cause is named first',
      (100 * right) / all,
      '%',
      { least: 90 },
      `${right} of ${all}, ${chosen.length} faults`,
    ),
  );
  figures.push(figure('hare ties to the lowest seat', ties, `of ${seeds.length}`, { least: seeds.length }));
  return figures;
}

async function whole(say: (line: string) => void): Promise<Figure> {
  const begun = performance.now();
  const { verdict } = await inFolder((folder) => run(folder, 1, null, { ...makePlan(4), all: true }));
  const minutes = (performance.now() - begun) / 60_000;
  say(`every stage with 10 seeds: ${verdict}, ${minutes.toFixed(1)} minutes`);
  return figure('every stage with 10 seeds of 400,000 steps', minutes * 60, 's', { most: 1800 });
}
