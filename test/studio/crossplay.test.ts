/** The matrix of who earns what beside whom in the studio, in a real browser: from the served folder and from a file that is dropped. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findChromium } from '../support/browser.ts';
import { serious, studioPage, tooFaint } from '../support/studio.ts';

const players = ['runs/hop-with-a-long-name', 'runs/ppo', 'nearest-stag', 'nearest-hare'];
const matrix = players.map((_, i) =>
  players.map((_other, j) => ({ mean: 3 - 0.7 * j + 0.1 * i, halfWidth: 0.05, episodes: 512 })),
);
const written = JSON.stringify({ format: 'trueline/crossplay/1', game: 'stag-hunt', players, matrix });

describe.skipIf(!findChromium())('crossplay in the studio', () => {
  const { page, complaints, open, looking } = studioPage(async (runs) => {
    mkdirSync(join(runs, 'met'));
    writeFileSync(join(runs, 'met', 'crossplay.json'), written);
  });

  it('is reached from the menu where the folder holds a matrix, and shows every mean with its interval, the best in the strongest colour', async () => {
    await open('#/train');
    await page.click('nav a:text-is("Crossplay")');
    await page.waitForSelector('td.number');
    const cells = await page.locator('td.number').allInnerTexts();
    expect(cells.length).toBe(16);
    expect(cells[0].replace(/\s+/g, ' ')).toBe('3 ± 0.05');
    const shares = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('td.number')].map((cell) => cell.style.getPropertyValue('--share')),
    );
    expect([shares[12], shares[3]]).toEqual(['45%', '0%']);
    await expect.poll(() => page.locator('h1').textContent()).toBe('stag-hunt: who earns what beside whom');
    await expect.poll(() => page.locator('main select').inputValue()).toBe('met');
    await expect.poll(() => serious(page)).toEqual([]);
  });

  it('can be read in light and dark and at three widths, in English and Chinese', async () => {
    for (const look of [
      [1280, 'light', 'en'],
      [768, 'dark', 'zh'],
      [390, 'dark', 'en'],
      [390, 'light', 'zh'],
    ] as const)
      await looking(look, async () => {
        await open('#/crossplay');
        await page.waitForSelector('td.number');
        await expect.poll(() => tooFaint(page), { message: `${look}` }).toEqual([]);
      });
  });

  it('opens a matrix that is chosen or dropped, and says what a file is that is none', async () => {
    await open('#/drop');
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
