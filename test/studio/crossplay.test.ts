/** The matrix of who earns what beside whom in the studio, in a real browser: from the served folder and from a file that is dropped. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium } from '../support/browser.ts';
import { temporaryFolder } from '../support/run.ts';
import { openPage, type Served, serious, serveStudio, tooFaint } from '../support/studio.ts';

const folder = temporaryFolder();
const players = ['runs/hop-with-a-long-name', 'runs/ppo', 'nearest-stag', 'nearest-hare'];
const matrix = players.map((_, i) =>
  players.map((_other, j) => ({ mean: 3 - 0.7 * j + 0.1 * i, halfWidth: 0.05, episodes: 512 })),
);
const written = JSON.stringify({ format: 'trueline/crossplay/1', game: 'stag-hunt', players, matrix });

describe.skipIf(!findChromium())('crossplay in the studio', () => {
  let browser: Browser;
  let page: Page;
  let server: Served;
  const complaints: string[] = [];
  beforeAll(async () => {
    mkdirSync(join(folder, 'met'));
    writeFileSync(join(folder, 'met', 'crossplay.json'), written);
    server = await serveStudio(folder, { interval: 200 });
    ({ browser, page } = await openPage(complaints));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('is reached from the menu where the folder holds a matrix, and shows every mean with its interval, the best in the strongest colour', async () => {
    await page.goto(`${server.address}#/train`);
    await page.click('nav a:text-is("Crossplay")');
    await page.waitForSelector('td.number');
    const cells = await page.locator('td.number').allInnerTexts();
    expect(cells.length).toBe(16);
    expect(cells[0].replace(/\s+/g, ' ')).toBe('3 ± 0.05');
    const shares = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('td.number')].map((cell) => cell.style.getPropertyValue('--share')),
    );
    expect([shares[12], shares[3]]).toEqual(['45%', '0%']);
    expect(await page.locator('h1').textContent()).toBe('stag-hunt: who earns what beside whom');
    expect(await page.locator('main select').inputValue()).toBe('met');
    expect(await serious(page)).toEqual([]);
  });

  it('can be read in light and dark and at both widths, in English and Chinese', async () => {
    for (const [width, theme, language] of [
      [1280, 'light', 'en'],
      [1280, 'dark', 'zh'],
      [390, 'dark', 'en'],
      [390, 'light', 'zh'],
    ] as const) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(server.address);
      await page.evaluate((kept) => Object.assign(localStorage, kept), { theme, language });
      await page.goto(`${server.address}?${width}${theme}#/crossplay`);
      await page.waitForSelector('td.number');
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      expect(await tooFaint(page), `${width} ${theme}`).toEqual([]);
      const picture = process.env.TRUELINE_PICTURES;
      if (picture) await page.screenshot({ path: join(picture, `crossplay-${width}-${theme}.png`) });
    }
    await page.evaluate(() => localStorage.clear());
  });

  it('opens a matrix that is chosen or dropped, and says what a file is that is none', async () => {
    await page.setViewportSize({ width: 1280, height: 844 });
    await page.goto(`${server.address}?again#/drop`);
    const one = written.replace('stag-hunt', 'snowdrift');
    await page.setInputFiles('[data-testid=files]', {
      name: 'crossplay.json',
      mimeType: 'application/json',
      buffer: Buffer.from(one),
    });
    await page.waitForSelector('h1:has-text("snowdrift: who earns what")');
    const none = { name: 'other.json', mimeType: 'application/json', buffer: Buffer.from('{}') };
    await page.setInputFiles('[data-testid=crossplay]', none);
    await page.waitForSelector('.error:has-text("other.json: this is no matrix")');
    expect(complaints).toEqual([]);
  });
});
