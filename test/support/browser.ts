/** The browser that all test files share. What a file opens in it is its own: closing it closes this file's pages and no others. */
import { text } from 'node:stream/consumers';
import { type Browser, chromium, type Page } from 'playwright-core';
import { inject } from 'vitest';

export { findChromium } from './chromium.ts';

export async function openBrowser(): Promise<Browser> {
  const answer = await fetch(inject('browser'));
  const address = await answer.text();
  if (!answer.ok) throw new Error(`Chromium did not start: ${address}`);
  return chromium.connect(address);
}

/** What the page saves while `act` is done, by name and text. */
export async function savedBy(page: Page, act: () => Promise<void>): Promise<{ name: string; text: string }> {
  const [download] = await Promise.all([page.waitForEvent('download'), act()]);
  return { name: download.suggestedFilename(), text: await text(await download.createReadStream()) };
}
