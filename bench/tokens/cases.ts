/** Language models to judge: every fault in both precisions and with three seeds, pairs of faults, and healthy variants; TRL's own trainers beside them. */
import { join, resolve } from 'node:path';
import type { Program } from '../judging.ts';
import { output } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const script = join(root, 'bench', 'tokens', 'run.py');
const trl = join(root, 'python', 'tests', 'trl_runs.py');

export interface TokenProgram extends Program {
  kind: 'fault' | 'pair' | 'healthy';
  options: Record<string, unknown>;
  faults?: readonly string[];
  /** What a fault asks of the program besides. */
  needs?: Record<string, unknown>;
}

interface Listed {
  faults: Record<string, { causes: string[]; needs: Record<string, unknown> }>;
  pairs: [string, string][];
  healthy: Record<string, unknown>[];
}

export const tokensCommand = (python: string): string[] => [python, script];

export function tokenCases(python: string, folder: string, seeds: readonly number[]): TokenProgram[] {
  const listed = JSON.parse(output(python, [script, 'list'])) as Listed;
  const found: Omit<TokenProgram, 'out'>[] = [];
  for (const [name, { causes, needs }] of Object.entries(listed.faults)) {
    for (const precision of ['float32', 'bf16']) {
      for (const seed of seeds) {
        const what = `${name}, ${precision}, seed ${seed}`;
        found.push({ kind: 'fault', what, seed, causes, faults: [name], needs, options: { precision, seed } });
      }
    }
  }
  for (const pair of listed.pairs) {
    for (const seed of seeds) {
      const causes = pair.flatMap((name) => listed.faults[name].causes);
      found.push({
        kind: 'pair',
        what: `${pair.join(' and ')}, seed ${seed}`,
        seed,
        causes,
        faults: pair,
        options: { seed },
      });
    }
  }
  for (const [i, options] of listed.healthy.entries()) {
    found.push({
      kind: 'healthy',
      what: `healthy ${i}: ${JSON.stringify(options)}`,
      seed: Number(options.seed),
      options,
    });
  }
  return found.map((item, i) => ({ ...item, out: join(folder, String(i)) }));
}

/** A few that share one model that is warmed up, which takes longer than they do. */
export function fewCases(all: readonly TokenProgram[]): TokenProgram[] {
  const plain = all.filter(({ seed, options, needs = {} }) => {
    const asked = { ...needs, ...options } as Record<string, unknown>;
    return seed === 0 && (asked.task ?? 'add') === 'add' && !asked.lora && asked.warm_up === undefined;
  });
  const faulty = plain.filter(({ kind, options }) => kind === 'fault' && options.precision === 'float32');
  const every = Math.ceil(faulty.length / 8);
  return [...faulty.filter((_, i) => i % every === 0), ...plain.filter(({ kind }) => kind === 'healthy').slice(0, 4)];
}

/** The Python of the environment that has TRL; undefined where it cannot be made. */
export async function trlPython(): Promise<string | undefined> {
  const { ensureVenv } = (await import(join(root, 'scripts', 'python.mjs'))) as {
    ensureVenv: (name: string, requirements: string) => string | undefined;
  };
  return ensureVenv('trl', 'python/requirements/trl.txt');
}

export const trlCommand = (python: string): string[] => [python, trl];

export function trlCases(python: string, folder: string): Program[] {
  const names = JSON.parse(output(python, [trl, 'list'])) as { name: string; causes: string[] }[];
  return names.map(({ name, causes }, seed) => ({
    what: `trl ${name}`,
    name,
    seed,
    out: join(folder, String(seed)),
    ...(causes.length > 0 ? { causes } : {}),
  }));
}
