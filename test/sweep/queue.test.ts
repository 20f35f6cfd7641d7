/** What is run over a queue in Redis: the zoo's bench and an investigation are as they are here, and a Redis without memory gives jobs back. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { freePort, TestRedis } from '../../bench/redis/server.ts';
import type { Outcome } from '../../src/faults/bench/outcome.ts';
import { makeJob, runSweep } from '../../src/sweep/index.ts';
import { InlineRunner } from '../../src/sweep/inline.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { type LabOptions, NodeLaboratory } from '../../src/symmetry/node.ts';
import { readSettings } from '../../src/training/settings.ts';
import { bits, jobsOf, redisProgram, settings, useRedis } from '../support/queue.ts';
import { trueline } from '../support/run.ts';

describe.skipIf(!redisProgram)('what a queue runs', () => {
  const { folder, redis, runner, work } = useRedis();

  it("runs the zoo's bench with the outcomes that it has here, and refuses a bench that is none", async () => {
    const chosen = ['--seeds', '1', '--games', 'echo', '--faults', 'advantage-late', '--healthy', '2', '--json'];
    const outcomes = (...args: string[]) => {
      const { stdout } = trueline('zoo', 'bench', ...chosen, ...args);
      return (JSON.parse(stdout) as { outcomes: Outcome[] }).outcomes.map((outcome) => ({ ...outcome, seconds: 0 }));
    };
    work('zoo');
    const queued = outcomes('--redis', redis().address, '--queue', 'zoo');
    expect(queued).toHaveLength(4);
    expect(queued).toEqual(outcomes());
    const forged = makeJob({ game: 'echo' }, 1, {
      bench: { id: 'x', fault: 'advantage-late', game: 'echo', head: 'fixed', seed: 2 },
    });
    const outcome = await runSweep([{ label: 'forged', job: forged }], join(folder, 'forged-bench'), {
      runner: runner('zoo', false),
    });
    expect(outcome.jobs[0]).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/no run of the zoo's bench/),
    });
  });

  it('trains the runs of an investigation as they are trained here', async () => {
    const trained = async (name: string, more: Partial<LabOptions>) => {
      const lab = new NodeLaboratory({
        settings: readSettings({ ...settings, steps: 1000 }),
        names: ['1', '2'],
        out: join(folder, name),
        seed: 1,
        threads: 1,
        ...more,
      });
      const runs = await lab.train([
        { label: 'one', settings: {}, seed: 1, evaluate: [{ episodes: 50, deal: true }] },
        { label: 'two', settings: { order: 'shuffled' }, seed: 2 },
      ]);
      await lab.close();
      return runs;
    };
    // Nothing is killed here: a busy machine may take longer than two seconds to say that it is alive.
    work('symmetry', ['--lease', '60']);
    const queued = await trained('symmetry-queued', { runner: runner('symmetry', false) });
    const local = await trained('symmetry-local', { runner: new InlineRunner() });
    for (const [i, run] of local.entries()) {
      expect(queued[i].evaluations).toEqual(run.evaluations);
      expect(await bits(queued[i].folder)).toEqual(await bits(run.folder));
    }
    expect(queued.map(({ label }) => label)).toEqual(['one', 'two']);
  });

  it('gives a job back in one sentence where Redis has no memory left, and does it when there is some', async () => {
    const own = join(folder, 'small');
    mkdirSync(own);
    const server = new TestRedis(redisProgram as string, own, await freePort(), ['--maxmemory-policy', 'noeviction']);
    await server.start();
    const client = new Redis(server.address);
    const jobs = jobsOf(1, { steps: 8 * 16 * 2 * 120 });
    const worker = work('small', [], server.address);
    let said = '';
    worker.stdout?.on('data', (data: Buffer) => {
      said += data.toString();
    });
    worker.stderr?.on('data', (data: Buffer) => {
      said += data.toString();
    });
    const sweep = runSweep(jobs, join(folder, 'small-runs'), {
      runner: new RedisRunner({ address: { url: server.address }, queue: 'small', shared: false, interval: 100 }),
    });
    while (!said.includes('begins')) await new Promise((resolve) => setTimeout(resolve, 20));
    await client.config('SET', 'maxmemory', '1mb');
    while (!/gives \w+ back: Redis has no memory left/.test(said))
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(worker.exitCode).toBeNull();
    expect(said).not.toMatch(/\n +at /);
    await client.config('SET', 'maxmemory', '0');
    expect((await sweep).jobs.map(({ status }) => status)).toEqual(['done']);
    const local = await runSweep(jobs, join(folder, 'small-local'), { runner: new InlineRunner() });
    expect(await bits((await sweep).jobs[0].folder)).toEqual(await bits(local.jobs[0].folder));
    client.disconnect();
    await server.stop();
  });
});
