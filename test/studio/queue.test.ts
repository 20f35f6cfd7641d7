/** The studio's view of a queue in a real Redis, in a real browser: machines, jobs, throughput, time left. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findRedis, freePort, TestRedis } from '../../bench/redis/server.ts';
import { makeJob, runSweep } from '../../src/sweep/index.ts';
import { RedisRunner } from '../../src/sweep/redis/runner.ts';
import { findChromium, openBrowser } from '../support/browser.ts';
import { root, temporaryFolder, trueline } from '../support/run.ts';
import { serveStudio } from '../support/studio.ts';

const program = findRedis();
const folder = temporaryFolder();

describe.skipIf(!program || !findChromium())('a queue in the studio', () => {
  let redis: TestRedis;
  let browser: Browser;
  let worker: ChildProcess | undefined;

  beforeAll(async () => {
    mkdirSync(join(folder, 'redis'));
    mkdirSync(join(folder, 'runs'));
    redis = new TestRedis(program!, join(folder, 'redis'), await freePort());
    await redis.start();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    if (worker && worker.exitCode === null && worker.signalCode === null) {
      worker.kill('SIGKILL');
      await once(worker, 'exit');
    }
    await redis?.stop();
  });

  it('shows machines, jobs, throughput and time left, and says in a sentence when Redis is gone', async () => {
    const server = await serveStudio(join(folder, 'runs'), {
      interval: 200,
      queue: { name: 'seen', address: { url: redis.address } },
    });
    const page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`${server.address}#/queue`);
    await page.waitForSelector('text=No machine works on it');
    const args = ['worker', '--redis', redis.address, '--queue', 'seen', '--threads', '1'];
    worker = spawn(process.execPath, [join(root, 'bin', 'trueline'), ...args], { stdio: 'ignore' });
    const short = { game: 'echo', kernel: 'simd' as const, worlds: 8, rollout: 16, network: { hidden: [8] } };
    const jobs = [
      ...[1, 2, 3].map((seed) => ({ label: `short ${seed}`, job: makeJob({ ...short, steps: 2000 }, seed) })),
      // Too long to end while somebody looks.
      { label: 'long', job: makeJob({ ...short, steps: 50_000_000 }, 4) },
      { label: 'waiting', job: makeJob({ ...short, steps: 50_000_000 }, 5) },
    ];
    const stop = new AbortController();
    const sweep = runSweep(jobs, join(folder, 'sweep'), {
      runner: new RedisRunner({ address: { url: redis.address }, queue: 'seen', shared: false, interval: 100 }),
      signal: stop.signal,
    });
    await page.waitForSelector('[data-count=completed]:text-is("3")');
    await page.waitForSelector('text=jobs a minute');
    await page.waitForSelector('text=left');
    await page.waitForSelector('td:text-is("echo")');
    // A worker may hold the next job beside the one that it works on.
    await page.waitForFunction(() => {
      const count = (state: string) => Number(document.querySelector(`[data-count=${state}]`)?.textContent);
      return count('active') >= 1 && count('active') + count('waiting') === 2;
    });
    const machines = page.locator('section:has(h2:text-is("Machines")) tbody tr');
    await expect.poll(() => machines.count()).toBe(1);
    await expect.poll(() => machines.first().locator('td').nth(1).textContent()).toBe('1');
    worker.kill('SIGKILL');
    stop.abort();
    await sweep;
    await redis.stop();
    await page.waitForSelector('[role=alert]');
    await expect
      .poll(() => page.locator('[role=alert]').textContent())
      .toMatch(/Redis at redis:\/\/127\.0\.0\.1:\d+ cannot be used/);
    await page.close();
    await server.close();
  });

  it('refuses an address that is none, and never shows a password', async () => {
    const refused = trueline('studio', join(folder, 'runs'), '--redis', 'nonsense');
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/--redis is no address/);
    const server = await serveStudio(join(folder, 'runs'), {
      interval: 100,
      queue: { name: 'seen', address: { url: `redis://me:hidden@127.0.0.1:${await freePort()}` } },
    });
    const response = await fetch(`${server.address}api/queue`);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    while (!text.includes('cannot be used')) text += (await reader.read()).value ?? '';
    expect(text).not.toContain('hidden');
    await reader.cancel();
    await server.close();
  });
});
