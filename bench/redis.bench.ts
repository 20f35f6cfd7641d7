/** What a queue costs: the same list of jobs on threads and over Redis, side by side, and how many jobs a second the queue itself passes on. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { makeJob, type Runner, runSweep, type SweepJob, ThreadRunner } from '../src/sweep/index.ts';
import { redisOptions } from '../src/sweep/redis/connection.ts';
import { RedisRunner } from '../src/sweep/redis/runner.ts';
import { findRedis, freePort, TestRedis } from './redis/server.ts';
import { type Figure, figure, median } from './support.ts';

export const needs = ['redis-server'];

/** Jobs that take about two seconds each on one thread. */
function list(count: number, round: number): SweepJob[] {
  return Array.from({ length: count }, (_, i) => ({
    label: `job ${i}`,
    job: makeJob({ game: 'stag-hunt', kernel: 'simd', steps: 30_000, worlds: 64, rollout: 32 }, 100 * round + i),
  }));
}

async function timed(jobs: SweepJob[], folder: string, runner: Runner): Promise<number> {
  const begun = performance.now();
  const { jobs: ended } = await runSweep(jobs, folder, { runner });
  const failed = ended.find(({ status }) => status !== 'done');
  if (failed) throw new Error(`a job of the bench ended as ${failed.status}: ${failed.error}`);
  return (performance.now() - begun) / 1000;
}

export async function bench(say: (line: string) => void, size = 1): Promise<Figure[]> {
  const program = findRedis();
  if (!program) throw new Error('redis-server is needed');
  const folder = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  mkdirSync(join(folder, 'redis'));
  const redis = new TestRedis(program, join(folder, 'redis'), await freePort());
  await redis.start();
  const address = { url: redis.address };
  const threads = availableParallelism();
  const worker = startWorker(redis.address, threads);
  // As warm as the worker's threads are.
  const warm = new ThreadRunner({ threads, keep: true });
  try {
    const sent: number[] = [];
    const shared: number[] = [];
    // The first round warms up what stays between rounds, and does not count.
    for (let round = 0; round <= 4 * size; round++) {
      const jobs = list(4 * threads, round);
      const here = (name: string) => join(folder, `${name}-${round}`);
      const over = (queue: string, disk: boolean) => new RedisRunner({ address, queue, shared: disk, interval: 100 });
      const local = await timed(jobs, here('local'), warm);
      const through = await timed(jobs, here('sent'), over('bench', false));
      const disk = await timed(list(4 * threads, round + 1000), here('shared'), over('bench', true));
      say(
        `${jobs.length} jobs on ${threads} threads: ${local.toFixed(1)} s; over Redis ${through.toFixed(1)} s, with a shared disk ${disk.toFixed(1)} s`,
      );
      if (round === 0) continue;
      sent.push(through / local);
      shared.push(disk / local);
    }
    say('empty jobs through the queue ...');
    const perSecond = await throughput(redis.address, 2000);
    return [
      figure('time over Redis with a shared disk, of that on threads', median(shared), '', { most: 1.05 }),
      figure('time over Redis, runs sent back through it, of that on threads', median(sent), ''),
      figure('empty jobs a second through the queue, one worker', perSecond, '/s'),
    ];
  } finally {
    worker.kill('SIGKILL');
    await warm.close();
    await redis.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function startWorker(address: string, threads: number): ChildProcess {
  const args = ['worker', '--redis', address, '--queue', 'bench', '--threads', String(threads)];
  return spawn(process.execPath, [join(process.cwd(), 'bin', 'trueline'), ...args], { stdio: 'ignore' });
}

async function throughput(url: string, count: number): Promise<number> {
  const connection = redisOptions({ url });
  const queue = new Queue('empty', { connection });
  await queue.addBulk(Array.from({ length: count }, (_, i) => ({ name: 'empty', data: { i } })));
  const events = new QueueEvents('empty', { connection });
  await events.waitUntilReady();
  const drained = new Promise((resolve) => events.once('drained', resolve));
  const begun = performance.now();
  const worker = new Worker('empty', async () => null, { connection, concurrency: 8 });
  await drained;
  const seconds = (performance.now() - begun) / 1000;
  await worker.close();
  await events.close();
  await queue.close();
  return count / seconds;
}
