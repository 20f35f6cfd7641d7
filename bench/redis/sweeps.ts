/** Sweeps of small jobs over a real Redis: the jobs, the workers that do them, and what a run's files add up to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderStore } from '../../src/recording/node.ts';
import { makeJob, type SweepJob } from '../../src/sweep/index.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';

/** Without the live guard, which takes longer than such a training and has tests of its own. */
export const settings = {
  guard: 'off' as const,
  game: 'echo',
  gameSettings: { seats: 2 },
  kernel: 'simd' as const,
  worlds: 8,
  rollout: 16,
  network: { hidden: [8] },
};
export const jobsOf = (count: number, more: object = {}): SweepJob[] =>
  Array.from({ length: count }, (_, i) => ({
    label: `seed ${i}`,
    job: makeJob({ ...settings, steps: 8 * 16 * 2 * 12, ...more }, i),
  }));

/** Sums of a run's files, without how long it took; of checkpoints the newest, because how many older ones are left depends on when it was stopped. */
export async function bits(run: string): Promise<Record<string, string>> {
  const paths = await folderStore(run).list();
  const newest = paths.filter((path) => path.startsWith('checkpoints/')).at(-1);
  const files: Record<string, string> = {};
  for (const path of paths) {
    if (path.startsWith('checkpoints/') && path !== newest) continue;
    const bytes = readFileSync(join(run, path));
    files[path] =
      path === 'result.json'
        ? JSON.stringify({ ...(JSON.parse(bytes.toString()) as object), seconds: 0 })
        : createHash('sha256').update(bytes).digest('hex');
  }
  return files;
}

/** A worker in a process of its own, which gives up its jobs after two seconds without a sign of life. */
export function startWorker(address: string, queue: string, more: readonly string[] = []): ChildProcess {
  const args = ['worker', '--redis', address, '--queue', queue, '--threads', '1', '--lease', '2', ...more];
  return spawn(process.execPath, [join('bin', 'trueline'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}

export const queueRunner = (url: string, queue: string, shared: boolean): RedisRunner =>
  new RedisRunner({ address: { url }, queue, shared, interval: 100 });
