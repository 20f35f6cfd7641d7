/** One Chromium for all test files: started when the first of them asks for it (`openBrowser`), closed when the last has ended. Runs outside of the tests, so that it may not import vitest. */
import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type BrowserServer, chromium } from 'playwright-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where a test file asks for the address of the shared browser. */
    browser: string;
  }
}

/** A Chromium to open pages in, if there is one; first the one without a window's trimmings, which takes a third less of the processor. */
export function findChromium(): string | undefined {
  return ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
    .map((name) => `/usr/bin/${name}`)
    .find((path) => existsSync(path));
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let started: Promise<BrowserServer> | undefined;
  const door = createServer((_, response) => {
    started ??= chromium.launchServer({
      executablePath: findChromium() as string,
      args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    });
    started.then(
      (browser) => response.end(browser.wsEndpoint()),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
  project.provide('browser', `http://127.0.0.1:${(door.address() as AddressInfo).port}`);
  return async () => {
    door.close();
    await (await started)?.close();
  };
}
