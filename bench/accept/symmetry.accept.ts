/** What must hold of the symmetry investigation: silence on fair games and equal agents, the right cause for every asymmetry fault, within the time promised. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asymmetryFaults, type Fault, findFault, whyNot } from '../../src/faults/index.ts';
import { gameMaker } from '../../src/games/index.ts';
import { writeWhole } from '../../src/recording/node.ts';
import { ThreadRunner } from '../../src/sweep/threads.ts';
import { investigate } from '../../src/symmetry/investigate.ts';
import { NodeLaboratory } from '../../src/symmetry/node.ts';
import { makePlan } from '../../src/symmetry/plan.ts';
import type { Plan } from '../../src/symmetry/stage.ts';
import type { SymmetryDiagnosis } from '../../src/symmetry/stages/explanation.ts';
import { agentNames } from '../../src/training/collect/seating.ts';
import { mergeSettings, recommendedSettings } from '../../src/training/recommended.ts';
import { readSettings } from '../../src/training/settings.ts';
import { type Figure, figure, median } from '../support.ts';

const game = 'stag-hunt';

/** Settings as `trueline symmetry` takes them; a fault of HOP+ agents is looked for with --algorithm hop. */
function settingsOf(fault: Fault | null) {
  const algorithm = fault?.needs?.includes('modules') ? 'hop' : 'ppo';
  const own = { game, algorithm, hop: { without: [] }, worlds: 128, rollout: 32, ...(fault ? { guard: 'off' } : {}) };
  return readSettings(mergeSettings(recommendedSettings(game) as Record<string, unknown>, own));
}

/** Threads that all investigations of a reduced instance share: to load the trainer for each takes longer than its short trainings. */
let trainers: ThreadRunner | undefined;

async function run(out: string, seed: number, fault: Fault | null, change: Partial<Plan>): Promise<SymmetryDiagnosis> {
  const settings = settingsOf(fault);
  const made = gameMaker(settings.game, settings.gameSettings)(1);
  const names = agentNames(settings, made);
  const { seats } = made.shape;
  const lab = new NodeLaboratory({
    settings,
    names,
    out,
    seed,
    ...(trainers ? { runner: trainers } : {}),
    ...(fault ? { fault: { id: fault.id, seed } } : {}),
  });
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

/** What is kept of an investigation. */
interface Outcome {
  causes: string[];
  equivalent: boolean;
  /** The p of Page's and Friedman's tests over the seeds, where they were trained. */
  p: number[];
  seconds: number;
  processorSeconds: number;
}

/** One file per investigation, so that a full instance can be stopped and gone on with; whoever changes the code removes the folder. */
const results = join(process.cwd(), 'runs', 'accept-symmetry');

async function outcome(name: string | null, work: () => Promise<SymmetryDiagnosis>): Promise<Outcome> {
  const file = name === null ? null : join(results, `${name}.json`);
  if (file !== null && existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as Outcome;
  const [begun, clock] = [performance.now(), process.cpuUsage()];
  const { causes, stages } = await work();
  const { user, system } = process.cpuUsage(clock);
  const of = (id: string) => stages.find((stage) => stage.id === id);
  const made: Outcome = {
    causes: causes.map(({ id }) => id),
    equivalent: of('random-play')?.figures.equivalent === true,
    p: of('phenomenon')?.tests.map(({ p }) => p) ?? [],
    seconds: (performance.now() - begun) / 1000,
    processorSeconds: (user + system) / 1e6,
  };
  if (file !== null) await writeWhole(file, [Buffer.from(`${JSON.stringify(made)}\n`)]);
  return made;
}

const said = ({ causes, seconds, processorSeconds }: Outcome) =>
  `${causes.join(', ') || 'nothing claimed'}, ${seconds.toFixed(0)} s, ${processorSeconds.toFixed(0)} s of processors`;

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  if (size === 'reduced') trainers = new ThreadRunner({ keep: true });
  try {
    return await measured(say, size === 'full');
  } finally {
    await trainers?.close();
    trainers = undefined;
  }
}

async function measured(say: (line: string) => void, full: boolean): Promise<Figure[]> {
  const small: Partial<Plan> = full
    ? {}
    : { steps: 12_000, seeds: 4, auditSteps: 12_000, episodes: 150_000, dealtEpisodes: 20_000, learntEpisodes: 100 };
  // What is finished is kept, so the first seed of each fault comes early and is not repeated.
  // A cause that is proved by rows or by play needs no long training behind it.
  const short = full ? { steps: 60_000 } : small;
  if (full) await faults(say, full, short, [1]);
  const figures = await clean(say, full, small);
  figures.push(...(await faults(say, full, short, full ? [1, 2, 3] : [1])));
  if (full) figures.push(await whole(say));
  return figures;
}

async function clean(say: (line: string) => void, full: boolean, small: Partial<Plan>): Promise<Figure[]> {
  const repetitions = full ? 20 : 1;
  const all: Outcome[] = [];
  for (let seed = 1; seed <= repetitions; seed++) {
    const made = await outcome(full ? `clean-${seed}` : null, () =>
      inFolder((folder) => run(folder, seed, null, small)),
    );
    all.push(made);
    say(`clean ${seed} of ${repetitions}: ${said(made)}`);
  }
  const count = (holds: (made: Outcome) => boolean) => all.filter(holds).length;
  const figures = [
    figure(
      'clean investigations that claim a bias',
      count(({ causes }) => causes.length > 0),
      `of ${repetitions}`,
      { most: 0 },
    ),
    figure(
      'clean investigations that state the equivalence of seats',
      count(({ equivalent }) => equivalent),
      `of ${repetitions}`,
      { least: repetitions },
    ),
  ];
  if (!full) return figures;
  const p = all.map((made) => made.p[1]).sort((a, b) => a - b);
  const note = `smallest ${p[0].toPrecision(2)}, largest ${p[p.length - 1].toPrecision(2)}`;
  figures.push(figure("median p of Friedman's test over the clean seeds", median(p), '', undefined, note));
  const fastest = Math.min(...all.map(({ seconds }) => seconds));
  figures.push(figure('--quick with ppo, the fastest of them', fastest, 's', { most: 300 }));
  return figures;
}

/** Faults of single runs that make agents unequal as well. */
const others = ['trained-on-first-agent', 'phantom-after-leaving'];

/** One of each kind where the instance is reduced; every fault with three seeds otherwise. */
async function faults(
  say: (line: string) => void,
  full: boolean,
  small: Partial<Plan>,
  seeds: readonly number[],
): Promise<Figure[]> {
  const fitting = [...asymmetryFaults, ...others.map(findFault)].filter(
    (fault) => whyNot(fault, settingsOf(fault)) === null,
  );
  const chosen = full
    ? fitting
    : fitting.filter(({ id }) => ['hare-to-lowest-seat', 'order-uses-up-the-step', 'name-paid-more'].includes(id));
  let right = 0;
  let ties = 0;
  // Play that a fault does not touch is done once for all of them.
  await inFolder(async (folder) => {
    for (const seed of seeds)
      for (const fault of chosen) {
        const made = await outcome(full ? `${fault.id}-${seed}` : null, () => run(folder, seed, fault, small));
        const named = made.causes[0] === fault.cause;
        if (named) right++;
        if (named && fault.id === 'hare-to-lowest-seat') ties++;
        say(`${fault.id} ${seed}: ${said(made)}${named ? '' : ` where ${fault.cause} is right`}`);
        if (full) rmSync(join(folder, 'runs'), { recursive: true, force: true });
      }
  });
  const all = chosen.length * seeds.length;
  return [
    figure(
      'asymmetry faults whose cause is named first',
      (100 * right) / all,
      '%',
      { least: 90 },
      `${right} of ${all}, ${chosen.length} faults`,
    ),
    figure('hare ties to the lowest seat', ties, `of ${seeds.length}`, { least: seeds.length }),
  ];
}

async function whole(say: (line: string) => void): Promise<Figure> {
  const made = await outcome('every-stage', () =>
    inFolder((folder) => run(folder, 1, null, { ...makePlan(4), all: true })),
  );
  say(`every stage with 10 seeds: ${said(made)}`);
  return figure('every stage with 10 seeds of 400,000 steps', made.seconds, 's', { most: 1800 });
}
