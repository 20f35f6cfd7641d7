/** What must hold of sweeps over Redis: every job is done once and bit for bit as here, while workers are killed and Redis is restarted twice. */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { RandomStream } from '../../src/math/random.ts';
import { runSweep } from '../../src/sweep/index.ts';
import { InlineRunner } from '../../src/sweep/inline.ts';
import { findRedis, freePort, TestRedis } from '../redis/server.ts';
import { bits, jobsOf, queueRunner, startWorker } from '../redis/sweeps.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['redis-server'];

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const program = findRedis();
  if (!program) return [];
  const jobs = jobsOf(size === 'full' ? 200 : 9);
  const kills = size === 'full' ? 14 : 3;
  const folder = mkdtempSync(join(tmpdir(), 'trueline-sweep-'));
  mkdirSync(join(folder, 'redis'));
  const redis = new TestRedis(program, join(folder, 'redis'), await freePort());
  await redis.start();
  const workers = Array.from({ length: 3 }, () => startWorker(redis.address, 'many'));
  try {
    return await troubled(say, jobs, kills, folder, redis, workers);
  } finally {
    for (const worker of workers) worker.kill('SIGKILL');
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function troubled(
  say: (line: string) => void,
  jobs: ReturnType<typeof jobsOf>,
  killed: number,
  folder: string,
  redis: TestRedis,
  workers: ReturnType<typeof startWorker>[],
): Promise<Figure[]> {
  const random = RandomStream.of(1, 'kills');
  const all = jobs.length;
  let finished = 0;
  // What happens after how many jobs: kills of a worker, and two restarts of Redis among them.
  const kills = Array.from({ length: killed }, () => ({ after: 1 + random.below(0.9 * all), restart: false }));
  const restarts = [0.25, 0.6].map((part) => ({ after: Math.round(part * all), restart: true }));
  const trouble = (async () => {
    for (const { after, restart } of [...kills, ...restarts].sort((a, b) => a.after - b.after)) {
      while (finished < after) await pause(20);
      await pause(300 * random.uniform());
      if (restart) {
        say(`after ${finished} jobs Redis is restarted`);
        await redis.stop();
        await redis.start();
        continue;
      }
      const [victim] = workers.splice(random.below(workers.length), 1);
      victim.kill('SIGKILL');
      await once(victim, 'exit');
      workers.push(startWorker(redis.address, 'many'));
    }
  })();
  const out = join(folder, 'many');
  const outcome = await runSweep(jobs, out, {
    runner: queueRunner(redis.address, 'many', false),
    onOutcome: () => {
      finished++;
    },
  });
  await trouble;
  const done = outcome.jobs.filter(({ status }) => status === 'done').length;
  const wrong = outcome.jobs.find(({ error }) => error)?.error;
  const local = await runSweep(jobs, join(folder, 'local'), { runner: new InlineRunner() });
  let same = 0;
  for (const [i, { folder: own }] of local.jobs.entries())
    if (isDeepStrictEqual(await bits(outcome.jobs[i].folder), await bits(own))) same++;
  const again = await runSweep(jobs, out, { runner: queueRunner(redis.address, 'many', false) });
  return [
    figure(
      `jobs done, of ${all}, with ${killed} workers killed and Redis restarted twice`,
      done,
      '',
      { least: all },
      wrong,
    ),
    figure('outcomes told', finished, '', { least: all, most: all }),
    figure('jobs that are bit for bit as they are here', same, '', { least: all }),
    figure('jobs that are found done when the list is run again', again.before, '', { least: all }),
  ];
}
