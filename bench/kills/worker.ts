/** A worker that is struck while it does the one job of a queue in a real Redis; another worker goes on, and the sweep that waits gets the same bits. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { makeJob, runSweep, type SweepOutcome } from '../../src/sweep/index.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { findRedis, freePort, TestRedis } from '../redis/server.ts';
import { type Program, trueline } from './programs.ts';
import type { How, Target } from './strikes.ts';

const hows: readonly How[] = ['before', 'after', 'torn', 'power', 'full'];

/** With a disk that all machines share, or with runs that come back through Redis. */
export function workerTarget(name: string, settings: object, shared: boolean): Target {
  const sweeps = new Map<string, { address: string; outcome: Promise<SweepOutcome> }>();
  let redis: TestRedis | undefined;

  const wait = (folder: string, address: string) => {
    const runner = new RedisRunner({ address: { url: address }, queue: 'struck', shared, interval: 50 });
    const outcome = runSweep([{ label: 'one', job: makeJob(settings, 1) }], join(folder, 'runs'), { runner });
    // What it says is asked later.
    outcome.catch(() => undefined);
    sweeps.set(folder, { address, outcome });
    return outcome;
  };
  const worker = (folder: string): Program => {
    const at = shared ? ['--shared', join(folder, 'runs')] : [];
    const { address } = sweeps.get(folder)!;
    return {
      ...trueline('worker', '--redis', address, '--queue', 'struck', '--threads', '1', '--lease', '1', ...at),
      env: { TMPDIR: join(folder, 'tmp') },
    };
  };

  return {
    name,
    turns: true,
    hows,
    prepare: async (folder) => {
      if (!redis) {
        const place = join(folder, '..', `${name}-redis`);
        mkdirSync(place);
        redis = new TestRedis(findRedis()!, place, await freePort(), ['--databases', '4096']);
        await redis.start();
      }
      mkdirSync(join(folder, 'tmp'));
      void wait(folder, `${redis.address}/${sweeps.size}`);
    },
    command: worker,
    // A worker ends when it is told to: here when the sweep has what it waits for, be it a failure.
    during: async (folder, child) => {
      await sweeps.get(folder)!.outcome;
      child.kill('SIGTERM');
    },
    recover: async (folder) => {
      const { address, outcome } = sweeps.get(folder)!;
      const { program, args, env } = worker(folder);
      const first = await Promise.race([outcome, Promise.resolve(undefined)]);
      const [failed] = first?.jobs.filter(({ status }) => status === 'failed') ?? [];
      if (first && !failed) return;
      if (failed && !(failed.error?.includes(folder) && /no room left/.test(failed.error)))
        throw new Error(`the job failed, and its path is not said: ${failed.error}`);
      const another: ChildProcess = spawn(program, args, { env: { ...process.env, ...env }, stdio: 'ignore' });
      try {
        const second = await (first ? wait(folder, address) : outcome);
        const [job] = second.jobs;
        if (job.status !== 'done') throw new Error(`the job is ${job.status} afterwards: ${job.error}`);
      } finally {
        another.kill('SIGTERM');
        await once(another, 'exit');
      }
    },
    end: async () => redis?.stop(),
  };
}
