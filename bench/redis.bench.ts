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
    job: makeJob({ game: 'stag-hunt', kernel: 'simd', steps: 150_000, worlds: 64, rollout: 32 }, 100 * round + i),
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
  try {
    const ratios: number[] = [];
    for (let round = 0; round < 3 * size; round++) {
      say(`round ${round + 1}: ${4 * threads} jobs of about two seconds, on threads and over Redis ...`);
      const jobs = list(4 * threads, round);
      const local = await timed(jobs, join(folder, `local-${round}`), new ThreadRunner({ threads }));
      const queued = await timed(
        jobs,
        join(folder, `queued-${round}`),
        new RedisRunner({ address, queue: 'bench', shared: false, interval: 100 }),
      );
      ratios.push(queued / local);
    }
    say('empty jobs through the queue ...');
    const perSecond = await throughput(redis.address, 2000);
    return [
      figure('time over Redis, of that on threads', median(ratios), '', { most: 1.05 }),
      figure('empty jobs a second through the queue, one worker', perSecond, '/s'),
    ];
  } finally {
    worker.kill('SIGKILL');
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
