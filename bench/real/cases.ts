/** Programs of other people, run as they are and with bugs put in while they run. Nothing of them is part of this project: Stable-Baselines3 comes from PyPI, CleanRL and on-policy from folders that the user names. */
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Program } from '../judging.ts';
import { output } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const script = join(root, 'bench', 'real', 'run.py');

export interface Real extends Program {
  program: string;
}

/** What there is to run: the environment of each, and, where its sources are the user's, the variable that names their folder and a file that must be there. */
const programs: Record<string, { venv: string; variable?: string; file?: string }> = {
  sb3: { venv: 'sb3' },
  control: { venv: 'sb3' },
  cleanrl: { venv: 'cleanrl', variable: 'CLEANRL', file: 'cleanrl/ppo.py' },
  onpolicy: { venv: 'sb3', variable: 'ONPOLICY', file: 'onpolicy/config.py' },
};

/** The Python that a program runs in; undefined, and said, where its sources or its environment are not there. */
export async function pythonFor(program: string, say: (line: string) => void): Promise<string | undefined> {
  const { venv, variable, file } = programs[program];
  const folder = variable && process.env[variable];
  if (variable && !folder) {
    say(`${program} is left out: set ${variable}=FOLDER, the folder of its sources`);
    return undefined;
  }
  if (folder && !existsSync(join(folder, file!))) {
    say(`${program} is left out: ${variable}=${folder} has no ${file}; name the folder of its sources`);
    return undefined;
  }
  const { ensureVenv } = (await import(join(root, 'scripts', 'python.mjs'))) as {
    ensureVenv: (name: string, requirements: string) => string | undefined;
  };
  return ensureVenv(venv, `python/requirements/${venv}.txt`);
}

export const realPrograms = Object.keys(programs);

export const command = (python: string): string[] => [python, script];

/** Everything that there is to run of some programs, each with a seed of its own. */
export function realCases(python: string, programs: readonly string[], folder: string): Real[] {
  const found = JSON.parse(output(python, [script, 'list', ...programs])) as Omit<Real, 'out' | 'seed'>[];
  return programs.flatMap((name) =>
    found
      .filter(({ program }) => program === name)
      .map((item, i) => ({ ...item, seed: i, out: join(folder, name, String(i)) })),
  );
}

export interface Algorithm {
  name: string;
  /** Whether it ends with the same parameters with the recorder as without. */
  same?: boolean;
  stopped?: boolean;
  sentences?: string[];
  error?: string;
}

/** Every algorithm of Stable-Baselines3 and sb3-contrib, or some, trained for a few hundred steps with the recorder and without. */
export function realAlgorithms(python: string, ...names: string[]): Algorithm[] {
  const lines = output(python, [join(root, 'bench', 'real', 'sb3_algorithms.py'), ...names])
    .trim()
    .split('\n');
  return lines.map((line) => JSON.parse(line) as Algorithm);
}
