/** The runs that the doctor must judge rightly: both examples with each of their faults and without, and healthy runs that look odd. */
import { spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { diagnose } from '../../src/doctor/diagnose.ts';
import { validate } from '../../src/recording/check/validate.ts';
import { openRecording } from '../../src/recording/node.ts';
import { clear, isKept, keep } from '../kept.ts';
import { output, python } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());

export interface Case {
  example: 'ppo' | 'mappo';
  what: string;
  options: string[];
  /** The cause that must come first; none for a healthy run. */
  cause?: string;
}

export interface Judged extends Case {
  seed: number;
  verdict: string;
  causes: string[];
  problems: string[];
}

/** Faults and their causes, as the examples themselves list them. */
export function exampleCases(): Case[] {
  const script = `import json, sys; sys.path[:0] = ['python', 'examples/pytorch']; import ppo, mappo; print(json.dumps({'ppo': ppo.FAULTS, 'mappo': mappo.FAULTS}))`;
  const found = JSON.parse(output(python('torch'), ['-c', script])) as Record<Case['example'], Record<string, string>>;
  return (['ppo', 'mappo'] as const).flatMap((example) => [
    { example, what: 'without a fault', options: [] },
    ...Object.entries(found[example]).map(([fault, cause]) => ({
      example,
      what: fault,
      options: ['--fault', fault],
      cause,
    })),
  ]);
}

export const oddCases: readonly Case[] = [
  { example: 'ppo', what: 'one update per batch', options: ['--epochs', '1', '--minibatches', '1'] },
  { example: 'ppo', what: 'a stream of truncated episodes', options: ['--endless'] },
  { example: 'ppo', what: 'negative log-probabilities', options: ['--neglogp'] },
  { example: 'mappo', what: 'dead agents', options: ['--mortal'] },
];

/** Trains every case for every seed and lets the doctor judge each recording. With `kept`, one that is there is not made again; without, it is deleted once it is judged. */
export async function judge(
  say: (line: string) => void,
  cases: readonly Case[],
  seeds: readonly number[],
  folder: string,
  more: readonly string[] = [],
  kept = false,
): Promise<Judged[]> {
  const runs = seeds.flatMap((seed) => cases.map((item, i) => ({ item, seed, path: join(folder, `${seed}-${i}`) })));
  const judged: Judged[] = [];
  const judgeOne = async ({ item, seed, path }: (typeof runs)[number]) => {
    const { problems } = await validate(await openRecording(path));
    const { verdict, causes } = await diagnose(await openRecording(path));
    judged.push({ ...item, seed, verdict, causes: causes.map(({ id }) => id), problems });
    say(`${judged.length} of ${runs.length}: ${item.example} ${item.what}, seed ${seed}: ${causes[0]?.id ?? verdict}`);
  };
  const missing = runs.filter(({ path }) => !kept || !isKept(path));
  for (const run of runs) if (!missing.includes(run)) await judgeOne(run);
  if (missing.length === 0) return judged;
  for (const { path } of missing) clear(path);
  const list = missing.map(({ item, seed, path }) => [
    item.example,
    '--seed',
    String(seed),
    '--out',
    path,
    ...more,
    ...item.options,
  ]);
  const child = spawn(python('torch'), [join(root, 'bench/recorder/examples.py'), JSON.stringify(list)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const status = new Promise<number | null>((done) => child.on('close', done));
  let made = 0;
  for await (const _ of createInterface(child.stdout)) {
    const run = missing[made++];
    if (kept) keep(run.path);
    await judgeOne(run);
    if (!kept) clear(run.path);
  }
  const ended = await status;
  if (ended !== 0 || judged.length < runs.length) throw new Error(`the examples ended with status ${ended}`);
  return judged;
}
