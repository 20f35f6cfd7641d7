import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { train } from '../src/index.ts';
import { findChromium, openBrowser } from './support/browser.ts';
import { root } from './support/run.ts';

const settings = {
  game: 'echo',
  gameSettings: { seats: 2 },
  seed: 3,
  steps: 4000,
  worlds: 8,
  rollout: 32,
  kernel: 'simd' as const,
};
/** Two pages that differ in whether they are cross-origin isolated, and so may use two threads. */
function serve(isolated: boolean): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const headers: Record<string, string> = isolated
      ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
      : {};
    const path = request.url as string;
    const script = /^\/dist\/program\/[\w-]+\.js$/.test(path);
    const example = path === '/examples/page/index.html';
    response.writeHead(200, { 'Content-Type': script ? 'text/javascript' : 'text/html', ...headers });
    response.end(script || example ? readFileSync(join(root, path)) : '<!doctype html><title>page</title>');
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
    );
  });
}

describe.skipIf(!findChromium())('in a web page, without a bundler', () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it('the example trains, and diagnoses what it trained', async () => {
    const { server, url } = await serve(false);
    try {
      const page = await browser.newPage();
      const errors: Error[] = [];
      page.on('pageerror', (error) => errors.push(error));
      await page.goto(`${url}/examples/page/index.html`);
      const said = async (how: string) => {
        await page.selectOption('#how', how);
        await page.click('#go');
        await page.waitForSelector('#go:not([disabled])');
        return page.textContent('#said');
      };
      expect(await said('clean')).toMatch(/^Returns [\d.]+ and [\d.]+ of 10\. healthy\.$/);
      expect(await said('bug')).toMatch(/^Returns [\d.]+ and [\d.]+ of 10\. faulty: advantage-shuffled\.$/);
      expect(errors).toEqual([]);
      await page.close();
    } finally {
      server.close();
    }
  });

  it.each([
    { isolated: false, threads: 1 },
    { isolated: true, threads: 2 },
  ])(
    'training gives the bits that Node gives (cross-origin isolated: $isolated, threads: $threads)',
    async ({ isolated, threads }) => {
      const { server, url } = await serve(isolated);
      try {
        const page = await browser.newPage();
        await page.goto(`${url}/`);
        // As text, because the test runner would rewrite the import.
        const inPage = (await page.evaluate(`(async () => {
          const { train } = await import('/dist/program/index.js');
          const run = await train(${JSON.stringify(settings)});
          const policies = run.trainer.learners.map((learner) => Array.from(learner.policy.read(0)));
          return { threads: run.trainer.engine.threads, policies, returns: run.evaluate(64) };
        })()`)) as { threads: number; policies: number[][]; returns: unknown };
        const inNode = await train(settings);
        expect(inPage.policies).toEqual(inNode.trainer.learners.map((learner) => Array.from(learner.policy.read(0))));
        expect(inPage.returns).toEqual(inNode.evaluate(64));
        expect(inPage.threads).toBe(threads);
        inNode.dispose();
        await page.close();
      } finally {
        server.close();
      }
    },
  );
});
