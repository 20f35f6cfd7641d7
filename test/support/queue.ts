/** What tests of the queue share: a Redis of their own, and workers that are gone when a test ends. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll } from 'vitest';
import { findRedis, freePort, TestRedis } from '../../bench/redis/server.ts';
import { queueRunner, startWorker } from '../../bench/redis/sweeps.ts';
import { temporaryFolder } from './run.ts';

export { bits, jobsOf, settings } from '../../bench/redis/sweeps.ts';

export const redisProgram = findRedis();

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
      const worker = startWorker(address, queue, more);
      workers.add(worker);
      worker.once('exit', () => workers.delete(worker));
      return worker;
    },
    runner: (queue: string, shared: boolean) => queueRunner(redis().address, queue, shared),
  };
}
