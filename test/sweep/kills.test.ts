/** Sweeps over a real Redis whose workers are killed: nothing is lost or done otherwise. */
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { RandomStream } from '../../src/math/random.ts';
import { runSweep } from '../../src/sweep/index.ts';
import { InlineRunner } from '../../src/sweep/inline.ts';
import { queueStatus } from '../../src/sweep/redis/status.ts';
import { bits, jobsOf, redisProgram, useRedis } from '../support/queue.ts';

describe.skipIf(!redisProgram)('a sweep whose workers are killed', () => {
  const { folder, redis, runner, work, workers } = useRedis();

  it('does 200 jobs once each, bit for bit as locally, while workers are killed and Redis is restarted twice', async () => {
    const jobs = jobsOf(200);
    const out = join(folder, 'many');
    for (let i = 0; i < 3; i++) work('many');
    let done = 0;
    const random = RandomStream.of(1, 'kills');
    // What happens after how many jobs: kills of a worker, and two restarts of Redis among them.
    const troubles = Array.from({ length: 14 }, () => ({ after: 1 + random.below(180), what: 'kill' as const }));
    const restarts = [50, 120].map((after) => ({ after, what: 'restart' as const }));
    const coming = [...troubles, ...restarts].sort((a, b) => a.after - b.after);
    const trouble = (async () => {
      for (const { after, what } of coming) {
        while (done < after) await new Promise((resolve) => setTimeout(resolve, 20));
        await new Promise((resolve) => setTimeout(resolve, 300 * random.uniform()));
        if (what === 'restart') {
          await redis().stop();
          await redis().start();
          continue;
        }
        const alive = [...workers];
        const victim = alive[random.below(alive.length)];
        victim.kill('SIGKILL');
        await once(victim, 'exit');
        work('many');
      }
    })();
    const outcome = await runSweep(jobs, out, {
      runner: runner('many', false),
      onOutcome: () => {
        done++;
      },
    });
    await trouble;
    expect(outcome.jobs.map(({ status, error }) => error ?? status)).toEqual(Array(200).fill('done'));
    expect(done).toBe(200);
    const local = await runSweep(jobs, join(folder, 'local'), { runner: new InlineRunner() });
    for (const [i, { folder: own }] of local.jobs.entries())
      expect(await bits(outcome.jobs[i].folder)).toEqual(await bits(own));
    // A list that is run again finds everything done.
    const again = await runSweep(jobs, out, { runner: runner('many', false) });
    expect(again.before).toBe(200);
  });

  it('goes on from the checkpoint of a worker that was killed, on a shared disk and through Redis', async () => {
    for (const shared of [true, false]) {
      const queue = `long-${shared}`;
      const jobs = jobsOf(1, { steps: 8 * 16 * 2 * 400, ppo: { epochs: 4 } });
      const out = join(folder, queue);
      const more = shared ? ['--shared', out] : [];
      const first = work(queue, more);
      let begun = 0;
      let killed = false;
      const outcome = await runSweep(jobs, out, {
        runner: runner(queue, shared),
        onProgress: ({ running }) => {
          begun = Math.max(begun, running[0]?.steps ?? 0);
          if (!killed && begun > 8 * 16 * 2 * 40) {
            killed = true;
            first.kill('SIGKILL');
            work(queue, more);
          }
        },
      });
      expect(killed).toBe(true);
      expect(outcome.jobs[0].status).toBe('done');
      const local = await runSweep(jobs, join(folder, `${queue}-local`), { runner: new InlineRunner() });
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
