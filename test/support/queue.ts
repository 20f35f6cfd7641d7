/** What tests of the queue share: a Redis of their own, workers that are gone when a test ends, and what a run's files add up to. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { findRedis, freePort, TestRedis } from '../../bench/redis/server.ts';
import { folderStore } from '../../src/recording/node.ts';
import { makeJob, type SweepJob } from '../../src/sweep/index.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { root, temporaryFolder } from './run.ts';

export const redisProgram = findRedis();
export const settings = {
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

/** Call it inside `describe`: its Redis is there from the first test to the last. */
export function useRedis() {
  const folder = temporaryFolder();
  const workers = new Set<ChildProcess>();
  let server: TestRedis | undefined;
  const redis = () => server as TestRedis;

  beforeAll(async () => {
    mkdirSync(join(folder, 'redis'));
    server = new TestRedis(redisProgram as string, join(folder, 'redis'), await freePort());
    await server.start();
  });
  afterEach(async () => {
    for (const worker of workers) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
  });
  afterAll(() => server?.stop());

  return {
    folder,
    workers,
    redis,
    work: (queue: string, more: string[] = [], address = redis().address) => {
      const args = ['worker', '--redis', address, '--queue', queue, '--threads', '1', '--lease', '2', ...more];
      const worker = spawn(process.execPath, [join(root, 'bin', 'trueline'), ...args], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      workers.add(worker);
      worker.once('exit', () => workers.delete(worker));
      return worker;
    },
    runner: (queue: string, shared: boolean) =>
      new RedisRunner({ address: { url: redis().address }, queue, shared, interval: 100 }),
  };
}
