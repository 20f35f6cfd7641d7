/** What a queue in Redis refuses: forged and hostile entries, strange lists of files, wrong addresses and passwords. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Queue } from 'bullmq';
import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { freePort, TestRedis } from '../../bench/redis/server.ts';
import { type Job, jobId, makeJob, runSweep, sweepStatus } from '../../src/sweep/index.ts';
import { queueName, versionKey } from '../../src/sweep/redis/names.ts';
import { RemoteFolder } from '../../src/sweep/redis/remote-folder.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { jobsOf, redisProgram, settings, useRedis } from '../support/queue.ts';
import { trueline, truelineBeside } from '../support/run.ts';

describe.skipIf(!redisProgram)('a queue in Redis', () => {
  const { folder, redis, runner, work } = useRedis();

  it('sets a job aside that fails thrice, with its error, and does the others', async () => {
    // The preset passes the settings' schema and is refused by the game.
    const poison = { label: 'poison', job: makeJob({ ...settings, gameSettings: { seats: -1 } }, 1) };
    work('poison');
    const outcome = await runSweep([poison, ...jobsOf(2)], join(folder, 'poison'), { runner: runner('poison', false) });
    expect(outcome.jobs.map(({ status }) => status)).toEqual(['failed', 'done', 'done']);
    expect(outcome.jobs[0].error).toMatch(/seats/);
    const queue = new Queue(queueName('poison'), { connection: { url: redis().address } });
    const failed = await queue.getJobs(['failed']);
    expect(failed.map((job) => job.attemptsMade)).toEqual([3]);
    await queue.close();
    expect((await sweepStatus(join(folder, 'poison'))).jobs[0]).toMatchObject({ status: 'failed' });
  });

  it('refuses jobs whose data are not what their id says, and workers of another version', async () => {
    const [{ job }] = jobsOf(1);
    const queue = new Queue(queueName('forged'), { connection: { url: redis().address } });
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
    const client = new Redis(redis().address);
    await client.set(versionKey('old'), '0.0.1');
    client.disconnect();
    const refused = trueline('worker', '--redis', redis().address, '--queue', 'old');
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
    const queue = new Queue(queueName('hostile'), { connection: { url: redis().address } });
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

  it('refuses a list of files from Redis that is forged, before it takes memory or leaves the folder', async () => {
    const client = new Redis(redis().address);
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
    const server = new TestRedis(redisProgram as string, own, port, ['--requirepass', 'secret']);
    await server.start();
    const refusals = [
      [`redis://user:hidden@127.0.0.1:${await freePort()}`, /nothing listens there/],
      [`redis://:hidden@127.0.0.1:${port}`, /the password is wrong/],
      [`redis://127.0.0.1:${port}`, /asks for a password/],
      [`rediss://:hidden@127.0.0.1:${port}`, /does not answer.*both sides speak TLS|one side speaks TLS/],
      ['redis://nowhere.invalid', /no such host/],
    ] as const;
    // One of them waits ten seconds for an answer.
    const all = await Promise.all(refusals.map(([address]) => truelineBeside('worker', '--redis', address)));
    for (const [i, refused] of all.entries()) {
      expect(refused.stderr).toMatch(refusals[i][1]);
      expect(refused.stderr).not.toContain('hidden');
      expect([refused.status, refused.stderr.trim().split('\n').length]).toEqual([2, 1]);
    }
    await server.stop();
    expect(trueline('worker', '--redis', 'nonsense').status).toBe(2);
    expect(trueline('worker', '--redis', redis().address, '--queue', 'a b').stderr).toMatch(/queue's name/);
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
    const server = new TestRedis(redisProgram as string, own, plain, [
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
