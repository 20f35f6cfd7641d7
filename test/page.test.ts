import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { build } from 'vite';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { train } from '../src/index.ts';
import { findChromium, openBrowser } from './support/browser.ts';
import { root, temporaryFolder } from './support/run.ts';

const settings = {
  game: 'echo',
  gameSettings: { seats: 2 },
  seed: 3,
  steps: 4000,
  worlds: 8,
  rollout: 32,
  kernel: 'simd' as const,
};
const folder = temporaryFolder();

/** Two pages that differ in whether they are cross-origin isolated, and so may use two threads. */
function serve(isolated: boolean): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    const headers: Record<string, string> = isolated
      ? { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' }
      : {};
    const script = request.url?.endsWith('.js') ?? false;
    response.writeHead(200, { 'Content-Type': script ? 'text/javascript' : 'text/html', ...headers });
    response.end(script ? readFileSync(join(folder, request.url as string)) : '<!doctype html><title>page</title>');
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () =>
      resolve({ server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }),
    );
  });
}

describe.skipIf(!findChromium())('in a web page', () => {
  let browser: Browser;
  beforeAll(async () => {
    await build({
      logLevel: 'error',
      configFile: false,
      build: {
        lib: { entry: join(root, 'dist/index.js'), formats: ['es'], fileName: () => 'trueline.js' },
        outDir: folder,
        minify: false,
        // What Node needs is in chunks of their own, which a page never loads.
        rolldownOptions: { external: [/^node:/] },
      },
    });
    browser = await openBrowser();
  });
  afterAll(() => browser?.close());

  it.each([
    { isolated: false, threads: 1 },
    { isolated: true, threads: 2 },
  ])(
    'training gives the bits that Node gives (cross-origin isolated: $isolated, threads: $threads)',
    async ({ isolated, threads }) => {
      const { server, url } = await serve(isolated);
      try {
        const page = await browser.newPage();
        await page.goto(url);
        // As text, because the test runner would rewrite the import.
        const inPage = (await page.evaluate(`(async () => {
          const { train } = await import('/trueline.js');
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
