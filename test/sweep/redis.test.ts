/** Sweeps over a real Redis: nothing is lost or done otherwise when workers are killed and Redis is restarted. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, freePort, TestRedis } from '../../bench/redis/server.ts';
import type { Outcome } from '../../src/faults/bench/outcome.ts';
import { RandomStream } from '../../src/math/random.ts';
import { folderStore } from '../../src/recording/node.ts';
import { type Job, jobId, makeJob, runSweep, type SweepJob, sweepStatus } from '../../src/sweep/index.ts';
import { InlineRunner } from '../../src/sweep/inline.ts';
import { queueName, versionKey } from '../../src/sweep/redis/names.ts';
import { RemoteFolder } from '../../src/sweep/redis/remote-folder.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { queueStatus } from '../../src/sweep/redis/status.ts';
import { type LabOptions, NodeLaboratory } from '../../src/symmetry/node.ts';
import { readSettings } from '../../src/training/settings.ts';
import { root, temporaryFolder, trueline } from '../support/run.ts';

const program = findRedis();
const folder = temporaryFolder();
const settings = {
  game: 'echo',
  gameSettings: { seats: 2 },
  kernel: 'simd' as const,
  worlds: 8,
  rollout: 16,
  network: { hidden: [8] },
};
const jobsOf = (count: number, more: object = {}): SweepJob[] =>
  Array.from({ length: count }, (_, i) => ({
    label: `seed ${i}`,
    job: makeJob({ ...settings, steps: 8 * 16 * 2 * 12, ...more }, i),
  }));

/** Sums of a run's files, without how long it took; of checkpoints the newest, because how many older ones are left depends on when it was stopped. */
async function bits(run: string): Promise<Record<string, string>> {
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

describe.skipIf(!program)('a sweep over Redis', () => {
  let redis: TestRedis;
  const workers = new Set<ChildProcess>();
  const work = (queue: string, more: string[] = [], address = redis.address) => {
    const args = ['worker', '--redis', address, '--queue', queue, '--threads', '1', '--lease', '2', ...more];
    const worker = spawn(process.execPath, [join(root, 'bin', 'trueline'), ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    workers.add(worker);
    worker.once('exit', () => workers.delete(worker));
    return worker;
  };
  const runner = (queue: string, shared: boolean) =>
    new RedisRunner({ address: { url: redis.address }, queue, shared, interval: 100 });

  beforeAll(async () => {
    mkdirSync(join(folder, 'redis'));
    redis = new TestRedis(program!, join(folder, 'redis'), await freePort());
    await redis.start();
  });
  afterEach(async () => {
    for (const worker of workers) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
  });
  afterAll(() => redis?.stop());

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
          await redis.stop();
          await redis.start();
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
    seen = await queueStatus({ url: redis.address }, 'drained');
    expect(seen.jobs.active).toBe(1);
    expect(seen.machines).toHaveLength(1);
    expect(seen.running[0]).toMatchObject({ game: 'echo', machine: seen.machines[0].name });
    worker.kill('SIGTERM');
    const [code] = (await once(worker, 'exit')) as [number];
    expect(code).toBe(0);
    seen = await queueStatus({ url: redis.address }, 'drained');
    expect(seen.jobs).toMatchObject({ active: 0, waiting: 1, failed: 0 });
    expect(seen.machines).toEqual([]);
  });

  it('sets a job aside that fails thrice, with its error, and does the others', async () => {
    // The preset passes the settings' schema and is refused by the game.
    const poison = { label: 'poison', job: makeJob({ ...settings, gameSettings: { seats: -1 } }, 1) };
    work('poison');
    const outcome = await runSweep([poison, ...jobsOf(2)], join(folder, 'poison'), { runner: runner('poison', false) });
    expect(outcome.jobs.map(({ status }) => status)).toEqual(['failed', 'done', 'done']);
    expect(outcome.jobs[0].error).toMatch(/seats/);
    const queue = new Queue(queueName('poison'), { connection: { url: redis.address } });
    const failed = await queue.getJobs(['failed']);
    expect(failed.map((job) => job.attemptsMade)).toEqual([3]);
    await queue.close();
    expect((await sweepStatus(join(folder, 'poison'))).jobs[0]).toMatchObject({ status: 'failed' });
  });

  it('refuses jobs whose data are not what their id says, and workers of another version', async () => {
    const [{ job }] = jobsOf(1);
    const queue = new Queue(queueName('forged'), { connection: { url: redis.address } });
    await queue.add('train', { job: { ...job, seed: 99 } }, { jobId: 'forged', attempts: 3 });
    await queue.add(
      'train',
      { job: { ...job, settings: { ...job.settings, code: 'process.exit()' } } },
      { jobId: 'other', attempts: 3 },
    );
    const worker = work('forged');
    const reasons: string[] = [];
    while (reasons.length < 2) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      const failed = await queue.getJobs(['failed']);
      reasons.splice(0, reasons.length, ...failed.map((entry) => entry.failedReason));
    }
    expect(reasons.sort()).toEqual([
      expect.stringMatching(/forged is refused: its id/),
      expect.stringMatching(/other is refused/),
    ]);
    worker.kill('SIGKILL');
    await queue.close();
    const client = new Redis(redis.address);
    await client.set(versionKey('old'), '0.0.1');
    client.disconnect();
    const refused = trueline('worker', '--redis', redis.address, '--queue', 'old');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/has jobs of version 0\.0\.1/);
  });

  it('writes and removes nothing that a queue entry names, whatever its id and its fields are', async () => {
    const victim = join(folder, 'victim');
    const own = join(folder, 'own');
    mkdirSync(victim);
    mkdirSync(own);
    writeFileSync(join(victim, 'photograph.jpg'), 'mine');
    writeFileSync(join(own, '.trueline-queue'), 'hostile\n');
    const [{ job }] = jobsOf(1);
    const id = jobId(job);
    symlinkSync(victim, join(own, id));
    const queue = new Queue(queueName('hostile'), { connection: { url: redis.address } });
    const climbing = {
      ...job,
      settings: { ...job.settings, names: ['../../../x', 'b'], recording: { policies: true } },
    };
    const entries: [string, unknown][] = [
      ['folder', { job, folder: victim }],
      [id, { job, shared: true }],
      ['../victim', { job, shared: true }],
      ['nothing', null],
      ['list', { job: [job] }],
      ['bench', { job: { ...job, bench: { id: '../../x', fault: '', game: 'echo', head: 'fixed', seed: 1 } } }],
      ['fault', { job: { ...job, fault: { id: '../../x', seed: 1 } } }],
      ['proto', JSON.parse(`{"job": ${JSON.stringify(job)}, "__proto__": {"shared": true}}`)],
      [jobId(climbing as Job), { job: climbing, shared: true }],
    ];
    for (const [jobId, data] of entries) await queue.add('train', data, { jobId });
    const worker = work('hostile', ['--shared', own]);
    let failed: { failedReason: string; id?: string }[] = [];
    while (failed.length < entries.length) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      failed = await queue.getJobs(['failed']);
    }
    const reasons = Object.fromEntries(failed.map((entry) => [entry.id, entry.failedReason]));
    expect(reasons[id]).toMatch(/leads out of/);
    for (const [name] of entries.filter(([name]) => name !== id)) expect(reasons[name]).toMatch(/refused/);
    expect(worker.exitCode).toBeNull();
    expect(readdirSync(victim)).toEqual(['photograph.jpg']);
    expect(readdirSync(own).sort()).toEqual(['.trueline-queue', id]);
    await queue.close();
  });

  it("runs the zoo's bench with the outcomes that it has here, and refuses a bench that is none", async () => {
    const chosen = ['--seeds', '1', '--games', 'echo', '--faults', 'advantage-late', '--healthy', '2', '--json'];
    const outcomes = (...args: string[]) => {
      const { stdout } = trueline('zoo', 'bench', ...chosen, ...args);
      return (JSON.parse(stdout) as { outcomes: Outcome[] }).outcomes.map((outcome) => ({ ...outcome, seconds: 0 }));
    };
    work('zoo');
    const queued = outcomes('--redis', redis.address, '--queue', 'zoo');
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
    work('symmetry');
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
    const server = new TestRedis(program!, own, await freePort(), ['--maxmemory-policy', 'noeviction']);
    await server.start();
    const client = new Redis(server.address);
    const jobs = jobsOf(1, { steps: 8 * 16 * 2 * 60 });
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

  it('refuses a list of files from Redis that is forged, before it takes memory or leaves the folder', async () => {
    const client = new Redis(redis.address);
    const token = '00000000-0000-4000-8000-000000000000';
    for (const [path, size] of [
      ['../../x', 1],
      ['checkpoints/../../x.checkpoint', 1],
      ['.trueline-lock', 1],
      ['notes.txt', 1],
      ['samples/000000.npz', 2 ** 39],
      ['samples/000000.npz', -1],
    ] as const) {
      await client.hset('trueline:forged', 'index', JSON.stringify({ [path]: { size, token } }));
      const pulling = new RemoteFolder(client, 'trueline:forged').pull(join(folder, 'forged', 'run'));
      await expect(pulling).rejects.toThrow(/refused|limit for one recording/);
    }
    expect(existsSync(join(folder, 'forged', 'run'))).toBe(false);
    client.disconnect();
  });

  it('says in a sentence whether Redis is not there or wants another password, and never shows one', async () => {
    const own = join(folder, 'locked');
    mkdirSync(own);
    const port = await freePort();
    const server = new TestRedis(program!, own, port, ['--requirepass', 'secret']);
    await server.start();
    for (const [address, sentence] of [
      [`redis://user:hidden@127.0.0.1:${await freePort()}`, /nothing listens there/],
      [`redis://:hidden@127.0.0.1:${port}`, /the password is wrong/],
      [`redis://127.0.0.1:${port}`, /asks for a password/],
      [`rediss://:hidden@127.0.0.1:${port}`, /does not answer.*both sides speak TLS|one side speaks TLS/],
      ['redis://nowhere.invalid', /no such host/],
    ] as const) {
      const refused = trueline('worker', '--redis', address);
      expect(refused.stderr).toMatch(sentence);
      expect(refused.stderr).not.toContain('hidden');
      expect([refused.status, refused.stderr.trim().split('\n').length]).toEqual([2, 1]);
    }
    await server.stop();
    expect(trueline('worker', '--redis', 'nonsense').status).toBe(2);
    expect(trueline('worker', '--redis', redis.address, '--queue', 'a b').stderr).toMatch(/queue's name/);
  });

  it('works with a password over TLS', async () => {
    const own = join(folder, 'tls');
    mkdirSync(own);
    const pem = (name: string) => join(own, name);
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1', '-keyout', pem('key.pem'), '-out', pem('cert.pem')],
    ]);
    expect(made.status).toBe(0);
    writeFileSync(join(own, 'empty'), '');
    const [plain, secure] = [await freePort(), await freePort()];
    const server = new TestRedis(program!, own, plain, [
      ...['--tls-port', String(secure), '--tls-cert-file', pem('cert.pem'), '--tls-key-file', pem('key.pem')],
      ...['--tls-ca-cert-file', pem('cert.pem'), '--tls-auth-clients', 'no', '--requirepass', 'pass word'],
    ]);
    await server.start();
    const url = `rediss://:pass%20word@127.0.0.1:${secure}`;
    const stranger = trueline('worker', '--redis', url, '--queue', 'safe');
    expect([stranger.status, stranger.stderr]).toEqual([2, expect.stringMatching(/certificate is not trusted.*--ca/)]);
    work('safe', ['--ca', pem('cert.pem')], url);
    const outcome = await runSweep(jobsOf(2), join(folder, 'safe'), {
      runner: new RedisRunner({ address: { url, ca: pem('cert.pem') }, queue: 'safe', shared: false, interval: 100 }),
    });
    expect(outcome.jobs.map(({ status }) => status)).toEqual(['done', 'done']);
    await server.stop();
  });
});
