/** The worst responses of a language model's run in the studio: coloured twice, with numbers where one points, as text where a tokenizer tells it. */
import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findChromium } from '../support/browser.ts';
import { root } from '../support/run.ts';
import { studioPage } from '../support/studio.ts';

describe.skipIf(!findChromium())("a language model's run in the studio", () => {
  const { runs, page, complaints, open } = studioPage(async (runs) =>
    cpSync(join(root, 'examples/tokens'), join(runs, 'tokens'), { recursive: true }),
  );

  it('shows the responses that disagree most, whether it is dropped or on the server', async () => {
    await open('#/runs?runs=tokens&whole=1');
    await page.waitForSelector('[data-testid=responses] .tokens', { timeout: 60_000 });
    await open('#/drop');
    await page.setInputFiles('[data-testid=folder]', join(runs, 'tokens'));
    const own = page.locator('[data-testid=responses]');
    await own.locator('.tokens').first().waitFor({ timeout: 60_000 });
    await expect.poll(() => own.locator('h3').count()).toBe(3);
    // Without a tokenizer tokens are ids.
    await expect.poll(() => own.locator('.tokens').first().innerText()).toMatch(/^[\d\s]+$/);
  });

  it('shows numbers where one points, and gives the legend back', async () => {
    const own = page.locator('[data-testid=responses]');
    const legend = own.locator('.legend').first();
    const before = await legend.innerText();
    await own.locator('.tokens').first().locator('span').first().hover();
    await expect.poll(() => legend.innerText()).toMatch(/^token \d+ at \d+, sampler -.*, trainer -.*, apart .*, coef /);
    await own.locator('h2').hover();
    expect(await legend.innerText()).toBe(before);
  });

  it('shows text once a tokenizer is chosen, and says in a sentence what is no tokenizer', async () => {
    const own = page.locator('[data-testid=responses]');
    await page.setInputFiles('[data-testid=tokenizer]', join(root, 'README.md'));
    await expect.poll(() => own.locator('[role=alert]').innerText()).toContain('README.md is no JSON');
    await page.setInputFiles('[data-testid=tokenizer]', join(root, 'examples/pytorch/language/vocabulary.json'));
    await expect.poll(() => own.locator('.tokens i').count()).toBe(0);
    await expect.poll(() => own.locator('.tokens').first().innerText()).toContain('$');
    expect(complaints).toEqual([]);
  });
});
