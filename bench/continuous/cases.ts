/** Programs with continuous actions, memory or a replay buffer to judge: every fault in both precisions and with three seeds, and the healthy variants. */
import { join, resolve } from 'node:path';
import type { Program } from '../judging.ts';
import { output } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const script = join(root, 'bench', 'continuous', 'run.py');

export interface ControlProgram extends Program {
  program: string;
  fault?: string;
  options: Record<string, unknown>;
  /** Settings for what neither the fault nor the variant says. */
  usual?: Record<string, unknown>;
}

interface Listed {
  faults: Record<string, Record<string, string[]>>;
  healthy: Record<string, Record<string, unknown>[]>;
}

export const controlCommand = (python: string): string[] => [python, script];

export function controlCases(python: string, folder: string, seeds: readonly number[]): ControlProgram[] {
  const { faults, healthy } = JSON.parse(output(python, [script, 'list'])) as Listed;
  const found: Omit<ControlProgram, 'out'>[] = [];
  for (const [program, own] of Object.entries(faults))
    for (const [fault, causes] of Object.entries(own))
      for (const double of [false, true])
        for (const seed of seeds) {
          const what = `${program}: ${fault}, ${double ? 'float64' : 'float32'}, seed ${seed}`;
          found.push({ program, what, seed, causes, fault, options: { double, seed } });
        }
  for (const [program, variants] of Object.entries(healthy))
    for (const options of variants)
      found.push({ program, what: `${program} ${JSON.stringify(options)}`, seed: Number(options.seed), options });
  return found.map((item, i) => ({ ...item, out: join(folder, String(i)) }));
}

/** A few of each program, and short: faults of several kinds, and variants from all over the list. */
export function fewCases(all: readonly ControlProgram[]): ControlProgram[] {
  const programs = [...new Set(all.map(({ program }) => program))];
  const few = programs.flatMap((program) => {
    const own = all.filter((one) => one.program === program && (!one.fault || one.options.double === false));
    const every = (list: readonly ControlProgram[], count: number) =>
      list.filter((_, i) => i % Math.ceil(list.length / count) === 0);
    return [
      ...every(
        own.filter(({ fault }) => fault),
        3,
      ),
      ...every(
        own.filter(({ fault }) => !fault),
        3,
      ),
    ];
  });
  return few.map((one) => ({ ...one, usual: { iterations: 4, kept: 4 } }));
}
