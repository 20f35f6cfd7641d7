/** What must hold of verdicts on other people's programs: tuned settings are healthy, and bugs put in while they run are named. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, tally } from '../judging.ts';
import { keptFolder } from '../kept.ts';
import { command, realCases, realPython } from '../real/cases.ts';
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
];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const python = await realPython();
  if (!python) return [];
  const full = size === 'full';
  const folder = full ? mkdtempSync(join(tmpdir(), 'trueline-real-')) : keptFolder('real', ['bench/real']);
  try {
    const all = realCases(python, ['sb3'], folder);
    const chosen = full ? all : all.filter(({ what }) => reduced.includes(what));
    const judged = await judge(say, command(python), chosen, !full);
    return [figure('programs run', judged.length, ''), ...tally(judged)];
  } finally {
    if (full) rmSync(folder, { recursive: true, force: true });
  }
}
