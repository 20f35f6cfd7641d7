/** Programs of other people, run as they are and with bugs put in while they run. Nothing of them is part of this project: Stable-Baselines3 comes from PyPI. */
import { join, resolve } from 'node:path';
import type { Program } from '../judging.ts';
import { output } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const script = join(root, 'bench', 'real', 'run.py');

export interface Real extends Program {
  program: string;
}

/** The Python of the environment that has Stable-Baselines3; undefined where it cannot be made. */
export async function realPython(): Promise<string | undefined> {
  const { ensureVenv } = (await import(join(root, 'scripts', 'python.mjs'))) as {
    ensureVenv: (name: string, requirements: string) => string | undefined;
  };
  return ensureVenv('sb3', 'python/requirements/sb3.txt');
}

export const command = (python: string): string[] => [python, script];

/** Everything that there is to run of the programs, each with a seed of its own. */
export function realCases(python: string, programs: readonly string[], folder: string): Real[] {
  const found = JSON.parse(output(python, [script, 'list', ...programs])) as Omit<Real, 'out' | 'seed'>[];
  return found.map((item, i) => ({ ...item, seed: i, out: join(folder, String(i)) }));
}
