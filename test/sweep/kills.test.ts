/** Sweeps over a real Redis whose workers are killed: nothing is lost or done otherwise. */
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runSweep } from '../../src/sweep/index.ts';
import { InlineRunner } from '../../src/sweep/inline.ts';
import { queueStatus } from '../../src/sweep/redis/status.ts';
import { bits, jobsOf, redisProgram, useRedis } from '../support/queue.ts';

describe.skipIf(!redisProgram)('a sweep whose workers are killed', () => {
  const { folder, redis, runner, work } = useRedis();

  it('goes on from the checkpoint of a worker that was killed, on a shared disk and through Redis', async () => {
    const jobs = jobsOf(1, { steps: 8 * 16 * 2 * 160, ppo: { epochs: 4 } });
    const local = await runSweep(jobs, join(folder, 'long-local'), { runner: new InlineRunner() });
    for (const shared of [true, false]) {
      const queue = `long-${shared}`;
      const out = join(folder, queue);
      const more = shared ? ['--shared', out] : [];
      const first = work(queue, more);
      let begun = 0;
      let killed = false;
      const outcome = await runSweep(jobs, out, {
        runner: runner(queue, shared),
        onProgress: ({ running }) => {
          begun = Math.max(begun, running[0]?.steps ?? 0);
          if (!killed && begun > 8 * 16 * 2 * 20) {
            killed = true;
            first.kill('SIGKILL');
            work(queue, more);
          }
        },
      });
      expect(killed).toBe(true);
      expect(outcome.jobs[0].status).toBe('done');
      expect(await bits(outcome.jobs[0].folder)).toEqual(await bits(local.jobs[0].folder));
    }
  });

  it('gives jobs back when a worker is told to end, and says how the queue stands', async () => {
    const jobs = jobsOf(1, { steps: 8 * 16 * 2 * 4000 });
    const worker = work('drained');
    const stop = new AbortController();
    let seen: Awaited<ReturnType<typeof queueStatus>> | undefined;
    await runSweep(jobs, join(folder, 'drained'), {
      runner: runner('drained', false),
      signal: stop.signal,
      onProgress: ({ running }) => {
        if (running.length === 0 || stop.signal.aborted) return;
        stop.abort();
      },
    });
    seen = await queueStatus({ url: redis().address }, 'drained');
    expect(seen.jobs.active).toBe(1);
    expect(seen.machines).toHaveLength(1);
    expect(seen.running[0]).toMatchObject({ game: 'echo', machine: seen.machines[0].name });
    worker.kill('SIGTERM');
    const [code] = (await once(worker, 'exit')) as [number];
    expect(code).toBe(0);
    seen = await queueStatus({ url: redis().address }, 'drained');
    expect(seen.jobs).toMatchObject({ active: 0, waiting: 1, failed: 0 });
    expect(seen.machines).toEqual([]);
  });
});
