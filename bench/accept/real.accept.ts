/** What must hold of verdicts on other people's programs: tuned settings are healthy, and bugs put in while they run are named. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Judged, judge, tally } from '../judging.ts';
import { keptFolder } from '../kept.ts';
import { command, pythonFor, realAlgorithms, realCases, realPrograms } from '../real/cases.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-torch', 'python3-numpy', 'python3-venv'];

/** Runs of the reduced instance: quick, and of every kind. */
const reduced = [
  'sb3 CartPole-v1, as tuned',
  'sb3 masked grid, rmsprop',
  'sb3 masked grid, as tuned',
  'sb3 credit of the step before',
  'sb3 ascent for descent',
  'sb3 log-probabilities zero',
  'sb3 head made anew',
  'control sac, Reach',
  'control ends forgotten in targets',
];
/** Of the steps of a run; what is judged shows in the first few iterations. */
const share = 0.5;
const fewAlgorithms = ['A2C', 'DQN'];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  // In full this takes an hour: what was recorded is kept, so that a run that was ended goes on where it was.
  const folder = keptFolder(`real-${size}`, ['bench/real']);
  const figures: Figure[] = [];
  const judged: Judged[] = [];
  // Those of one environment run in one process, because Stable-Baselines3 takes seconds to import.
  const environments = new Map<string, string[]>();
  for (const program of full ? realPrograms : ['sb3', 'control']) {
    const python = await pythonFor(program, say);
    if (!python) continue;
    mkdirSync(join(folder, program), { recursive: true });
    environments.set(python, [...(environments.get(python) ?? []), program]);
  }
  for (const [python, programs] of environments) {
    const all = realCases(python, programs, folder);
    const chosen = full ? all : all.filter(({ what }) => reduced.includes(what)).map((one) => ({ ...one, share }));
    judged.push(...(await judge(say, command(python), chosen)));
    for (const name of programs) {
      const count = chosen.filter(({ program }) => program === name).length;
      figures.push(figure(`programs run of ${name}`, count, ''));
    }
    if (programs.includes('sb3')) figures.push(algorithms(python, full ? [] : fewAlgorithms));
  }
  return judged.length === 0 ? [] : [...figures, ...tally(judged)];
}

/** Whatever an algorithm is, recording it neither ends nor changes its training. */
function algorithms(python: string, names: readonly string[]): Figure {
  const tried = realAlgorithms(python, ...names);
  const bad = tried.filter(({ same, stopped, error }) => error !== undefined || stopped || !same);
  const told = bad.map(({ name, error, stopped }) => `${name}: ${error ?? (stopped ? 'stopped' : 'changed')}`);
  return figure(
    `algorithms of Stable-Baselines3 that end or train otherwise when recorded, of ${tried.length}`,
    bad.length,
    '',
    { most: 0 },
    told.join('; '),
  );
}
