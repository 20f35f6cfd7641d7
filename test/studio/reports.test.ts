/** Pages that commands write, in a browser: an episode with the controls of the studio's replay, and comparisons whose labels can be read. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { comparisonPage } from '../../src/report/comparison.ts';
import { compareRuns } from '../../src/sweep/compare.ts';
import { findChromium } from '../support/browser.ts';
import { trueline } from '../support/run.ts';
import { studioPage, tooFaint } from '../support/studio.ts';

describe.skipIf(!findChromium())('pages that commands write', () => {
  const { folder, page, complaints, asked } = studioPage();

  it('play an episode: steps, speed, keys, one count, and what each seat was paid', async () => {
    const file = join(folder, 'hunt.html');
    const { stdout } = trueline(
      'play',
      'stag-hunt',
      '--players',
      'nearest-stag',
      '--episodes',
      '1',
      '--json',
      '--html',
      file,
    );
    const { seats } = JSON.parse(stdout) as { seats: { mean: number }[] };
    await page.goto(`file://${file}`);
    expect(asked).toEqual([`file://${file}`]);
    const count = () => page.locator('#count').textContent();
    expect(await count()).toMatch(/^step 0 of \d+$/);
    // The board has no count of its own.
    expect((await page.locator('body').innerText()).match(/step \d+ of \d+/g)).toHaveLength(1);
    await page.keyboard.press('ArrowRight');
    expect(await count()).toMatch(/^step 1 of/);
    expect(await page.locator('.frames > div:not([hidden])').count()).toBe(1);
    await page.click('#back');
    expect(await count()).toMatch(/^step 0 of/);
    await page.keyboard.press('+');
    expect(await page.locator('#speed').inputValue()).toBe('8');
    await page.locator('h1').click();
    await page.keyboard.press('Space');
    expect(await page.locator('#play').textContent()).toBe('Pause');
    await page.waitForFunction(() => document.querySelector('#play')!.textContent === 'Play');
    const last = Number(await page.locator('#slider').getAttribute('max'));
    expect(await count()).toBe(`step ${last} of ${last}`);
    const sums = await page.locator('.seats b').allTextContents();
    expect(sums.map((sum) => Number.parseFloat(sum))).toEqual(seats.map(({ mean }) => Math.round(100 * mean) / 100));
    // The board brings its own ground.
    await page.addStyleTag({ content: '.frames { visibility: hidden }' });
    for (const [width, scheme] of [
      [390, 'dark'],
      [1280, 'light'],
    ] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 844 });
      await expect.poll(() => tooFaint(page)).toEqual([]);
      await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  });

  it('compare twelve settings of long names, and no label runs into another', async () => {
    const runs = Array.from({ length: 24 }, (_, i) => ({
      folder: `runs/${i}`,
      game: 'echo',
      seed: i % 2,
      settings: { 'ppo.learningRate': 0.001 / (1 + (i >> 1)), 'ppo.entropyCoefficient': 0.01 * (1 + (i >> 1)) },
      score: i / 7,
      curve: {
        agents: ['a'],
        steps: Float64Array.of(100, 200, 300),
        means: Float64Array.of(0, i / 9, i / 7),
        counts: Int32Array.of(5, 5, 5),
        last: [i / 7],
        lastCount: [5],
      },
    }));
    const html = await comparisonPage(compareRuns(runs, { repeats: 20 }), 'trueline compare runs');
    await page.setContent(html);
    await expect.poll(() => page.locator('figure').count()).toBe(2);
    const overlaps = await page.locator('figure svg').evaluateAll((drawings) =>
      drawings.flatMap((drawing) => {
        const boxes = [...drawing.querySelectorAll('text')]
          .map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() }))
          .filter(({ text, box }) => text && box.width > 0);
        return boxes.flatMap((a, i) =>
          boxes
            .slice(i + 1)
            .filter(
              ({ box }) =>
                Math.min(a.box.right, box.right) - Math.max(a.box.left, box.left) > 1 &&
                Math.min(a.box.bottom, box.bottom) - Math.max(a.box.top, box.top) > 2,
            )
            .map(({ text }) => `${a.text} / ${text}`),
        );
      }),
    );
    expect(overlaps).toEqual([]);
    // Every line of the legend looks different.
    const looks = await page
      .locator('.legend path')
      .evaluateAll((paths) =>
        paths.map((path) => `${path.getAttribute('stroke')} ${path.getAttribute('stroke-dasharray')}`),
      );
    expect(looks).toHaveLength(12);
    expect(new Set(looks).size).toBe(12);
  });

  it('never threw', () => expect(complaints).toEqual([]));
});
