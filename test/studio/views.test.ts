/** The studio in a real browser: evidence under the pointer, symmetry, groups, subgoals, trainings on the server, whole views as files, contrast and width. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { findChromium, savedBy } from '../support/browser.ts';
import { writeInvestigation } from '../support/investigation.ts';
import { root } from '../support/run.ts';
import { english, record, serious, storedRuns, studioPage, tooFaint } from '../support/studio.ts';

const hostile = '<img src=x onerror=window.hacked=1>';

it('sends a first script of at most 200 kB, gzipped, with charts and views left for later', () => {
  const page = readFileSync(join(root, 'dist/studio/index.html'), 'utf8');
  const scripts = [...page.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path);
  expect(scripts.length).toBeGreaterThan(0);
  const bytes = scripts.map((path) => gzipSync(readFileSync(join(root, 'dist/studio', path))).length);
  expect(bytes.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(200_000);
  for (const path of scripts) expect(readFileSync(join(root, 'dist/studio', path), 'utf8')).not.toContain('zrender');
});

describe.skipIf(!findChromium())('the views of the studio', () => {
  const { held, folder, runs, page, complaints, asked, open, textOf, graph, turn } = studioPage(async (runs) => {
    const hunt = { game: 'stag-hunt', steps: 16 * 32 * 4 * 4 };
    for (const seed of [1, 2]) {
      await record(join(runs, `quick-${seed}`), { ...hunt, seed });
      await record(join(runs, `slow-${seed}`), { ...hunt, seed, ppo: { learningRate: 1e-4 } });
    }
    await record(join(runs, 'hop'), { game: 'stag-hunt', algorithm: 'hop', worlds: 8, steps: 8 * 32 * 4 * 2 });
    const echo = { game: 'echo', gameSettings: { seats: 2 }, steps: 16 * 32 * 2 * 6 };
    await record(join(runs, 'late'), echo, 'advantage-late');
    await record(join(runs, 'hostile'), { ...echo, names: [hostile, 'b'] }, 'advantage-late');
    renameSync(join(runs, 'hostile'), join(runs, hostile));
  });
  const saved = (selector: string) => savedBy(page, () => page.locator(selector).first().click());
  const kept = new Set<string>();
  /** Dropped once; from then on the browser's own storage has it, with its diagnosis. */
  const drop = async (run: string) => {
    const id = `dropped ${run}`;
    await open(kept.has(run) ? `#/drop?run=${encodeURIComponent(id)}` : '#/drop');
    if (!kept.has(run)) await page.setInputFiles('[data-testid=folder]', join(runs, run));
    await page.waitForSelector('.verdict');
    await page.waitForSelector('.chart svg');
    await expect.poll(() => storedRuns(page)).toContain(id);
    kept.add(run);
  };

  it('draws the evidence before and after the transform, and tells the point under the pointer', async () => {
    await drop('late');
    const proof = page.locator('article figure').first();
    await expect.poll(() => proof.locator('.chart').count()).toBe(2);
    await expect.poll(() => textOf('article')).toMatch(/PyTorch[\s\S]*Trueline/);
    // A reading of an axis tells every line at that place.
    const lines = page.locator('figure:has(.legend) .chart').first();
    await lines.scrollIntoViewIfNeeded();
    await lines.hover({ position: { x: 200, y: 120 } });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.tip')].some((tip) => /iteration \d+/.test(tip.textContent!)),
    );
    // After the transform all points are on the diagonal, so the pointer meets some on its way along it.
    const after = proof.locator('.chart').nth(1);
    await after.scrollIntoViewIfNeeded();
    const box = (await after.boundingBox())!;
    const told = () => after.locator('.tip').allInnerTexts();
    for (let i = 1; i < 640 && !/\d/.test((await told()).join('')); i++) {
      const along = (i % 160) / 160;
      await page.mouse.move(box.x + 66 + along * (box.width - 92), box.y + 12 + (1 - along) * (box.height - 60));
    }
    expect((await told()).join('')).toMatch(/advantage/);
  });

  it('saves a picture of the evidence as SVG with its own colours, and its points as CSV', async () => {
    await drop('late');
    const svg = await saved('article figure button:text-is("SVG")');
    expect(svg.text).toMatch(/^<svg [\s\S]*<\/svg>$/);
    expect(svg.text).not.toContain('var(--');
    expect(svg.text.match(/<svg /g)).toHaveLength(3);
    const csv = await saved('article figure button:text-is("CSV")');
    expect(csv.text.split('\n').length).toBeGreaterThan(100);
    expect(csv.text).toMatch(/\n"After[^\n]*",-?\d/);
  });

  it('saves the whole view as one file that asks for nothing, runs nothing and holds hostile names as text', async () => {
    await drop(hostile);
    const { name, text } = await saved('header button:text-is("Export")');
    expect(name).toBe('trueline-drop.html');
    const file = join(folder, 'view.html');
    writeFileSync(file, text);
    const offline = await held.browser.newPage();
    const asked: string[] = [];
    offline.on('request', (request) => asked.push(request.url()));
    await offline.goto(`file://${file}`);
    expect(asked).toEqual([`file://${file}`]);
    expect(await offline.locator('.verdict.faulty').count()).toBe(1);
    expect(await offline.locator('.chart svg').count()).toBeGreaterThan(10);
    expect(await offline.locator('script, button, input, select, a[href], img[src=x]').count()).toBe(0);
    expect(await offline.locator('body').textContent()).toContain(hostile);
    expect(await offline.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
    await offline.close();
    // Curves are canvases; in the file they are drawings.
    await open('#/runs?runs=quick-1&curves=return');
    await page.waitForSelector('.u-over');
    expect((await saved('header button:text-is("Export")')).text).toMatch(/<svg [\s\S]*player_1/);
    expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
  });

  it('puts seeds of one setting together as a band and says how many there are', async () => {
    await open('#/runs?runs=quick-1|quick-2&group=settings&curves=return');
    await page.waitForSelector('text=n = 2');
  });

  it('compares runs: settings that differ, and the difference by paired seed', async () => {
    await open('#/compare?runs=quick-1|slow-1&curves=return');
    await page.waitForSelector('td:has-text("learning_rate")');
    await page.waitForSelector('text=Difference by paired seed');
  });

  it('groups runs by a chosen setting, in curves and in paired differences', async () => {
    const pinned = 'runs=quick-1|quick-2|slow-1|slow-2';
    await open(`#/runs?${pinned}&curves=return`);
    await page.waitForSelector('.u-over');
    await page.selectOption('[data-testid=group]', 'learning_rate');
    await page.waitForSelector('text=learning_rate=0.0001 · player_1 (n = 2)');
    expect(page.url()).toContain('group=learning_rate');
    await open(`#/compare?${pinned}&curves=return&group=learning_rate`);
    await page.waitForSelector('text=/learning_rate=0.0001 - learning_rate=.* \\(n = 2\\)/');
  });

  it('shows in a replay of HOP+ the subgoal of each agent and what it expects of the others', async () => {
    await open('#/replay?run=hop');
    await page.waitForSelector('[data-testid=subgoal]');
    await expect.poll(() => page.locator('[data-testid=subgoal]').count()).toBeGreaterThan(1);
    await expect.poll(() => page.locator('[data-testid=subgoal] i').count()).toBeGreaterThan(8);
    await expect.poll(() => textOf('main')).toContain('What it expected of the others');
  });

  it('trains on the server, shows the run as it grows, and stops it', async () => {
    await open('#/train?game=echo');
    await page.fill('label:has(code:text-is("steps")) input', '2000000');
    await page.fill('label:has-text("Name") input', 'longer');
    // Nothing but the trainer's own news is there to be drawn.
    await page.fill('form input[type=search]', 'checkpoint');
    await page.fill('label:has(code:text-is("checkpoint")) input', '100000');
    await page.click('text=Train on the server');
    const row = page.locator('[data-testid=run-list] li:has-text("longer")');
    await page.waitForSelector('.u-over');
    // While it grows, a verdict is one so far.
    await row.locator('[data-verdict]').waitFor();
    expect(await row.locator('[data-verdict]').textContent()).toMatch(/so far|too early/i);
    await page.click('button:text-is("Stop")');
    await page.waitForSelector('text=stopped; the same command goes on');
  });

  it('shows the stages of an investigation as they end, then curves, boxes, the ladder and the decision', async () => {
    const own = join(runs, 'written');
    writeInvestigation(own, 1, 'running');
    await open('#/symmetry?of=written');
    await page.waitForSelector('li:has-text("Is the game fair?") .running');
    await expect.poll(() => textOf('main')).toContain('2 of 6 runs, 1:15 left');
    await page.waitForSelector('#stage-phenomenon .chart svg');
    writeInvestigation(own, 2, 'running');
    await page.waitForSelector('#stage-random-play .chart svg');
    writeInvestigation(own, 3, 'done');
    await page.waitForSelector('.verdict');
    await page.waitForSelector('#stage-ladder .chart svg');
    await expect.poll(() => page.locator('main .chart svg').count()).toBe(4);
    await page
      .locator('#stage-phenomenon .chart')
      .first()
      .hover({ position: { x: 200, y: 120 } });
    await page.waitForFunction(() =>
      [...document.querySelectorAll('.tip')].some((tip) => tip.textContent!.includes('onerror')),
    );
    expect(await page.locator('img[src=x]').count()).toBe(0);
    const csv = await saved('#stage-ladder button:text-is("CSV")');
    expect(csv.text).toMatch(/"without subgoals","player_2",\d/);
  });

  it('starts an investigation from the page, which names an unfair game', async () => {
    await open('#/symmetry');
    // Where there is none yet, the form is open.
    const form = page.locator('details:has(> summary:text-is("Start an investigation"))');
    if ((await form.getAttribute('open')) === null) await form.locator('summary').click();
    await page.selectOption('form label:has-text("Fault") select', 'seat-paid-more');
    await page.fill('form label:has-text("Name") input', 'unfair');
    // The rules alone show it: how the agents learn is of no interest here.
    await page.fill('form label:text-matches("^Seeds") input', '2');
    await page.fill('form label:text-matches("^steps") input', '8192');
    await page.click('button:text-is("Investigate")');
    await page.waitForSelector('option:text-matches("^unfair")', { state: 'attached' });
    await page.waitForSelector('.verdict.faulty');
    await expect.poll(() => textOf('.verdict .kind code')).toBe('environment-seat-bias');
    await page.waitForSelector('#stage-random-play .chart svg');
  });

  it.each([
    ['drop', '.chart svg'],
    ['runs?runs=quick-1|quick-2&group=settings', '.u-over'],
    ['runs?runs=late&whole=1', '.checks'],
    ['runs?table=1', '[data-testid=run-table] tbody tr'],
    ['train?fault=advantage-late', 'form small'],
    ['replay?run=quick-1&step=2', 'canvas[data-step="2"]'],
    ['compare?runs=quick-1|slow-1', '.u-over'],
    ['symmetry?of=written', '.chart svg'],
    ['queue', 'main code'],
  ])(
    '%s can be used by everybody in light and dark, at three widths, in English and Chinese, and asks nobody else',
    async (view, ready) => {
      const own = new URL(held.server.address).origin;
      try {
        if (view === 'drop') await drop('late');
        else await open(`#/${view}`);
        for (const look of [
          [1280, 'dark', 'en'],
          [768, 'light', 'zh'],
          [390, 'dark', 'zh'],
          [390, 'light', 'en'],
        ] as const) {
          await turn(look);
          await page.waitForSelector(ready);
          await expect.poll(() => tooFaint(page), { message: `${look}` }).toEqual([]);
          await expect.poll(() => serious(page), { message: `${look}` }).toEqual([]);
          if (look[2] === 'zh') await expect.poll(() => english(page), { message: `${look}` }).toEqual([]);
          if (view.startsWith('runs?runs=quick') && look[0] === 390)
            await expect.poll(async () => (await graph().boundingBox())!.y).toBeLessThan(844);
          await expect
            .poll(() => page.evaluate(() => document.documentElement.scrollWidth), { message: `${look}` })
            .toBeLessThanOrEqual(look[0]);
        }
        expect(asked.filter((url) => !url.startsWith(own) && !/^(data|blob|about):/.test(url))).toEqual([]);
      } finally {
        await page.evaluate(() => localStorage.clear());
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    },
  );

  it('is reached and used from the keyboard', async () => {
    await open('#/drop');
    await page.waitForSelector('nav a');
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the content');
    for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.hash.startsWith('#/runs'));
  });

  it('never broke its content security policy, nor threw', () => {
    // A folder that is being written may lack a file for a moment, which is answered with 404.
    expect(complaints.filter((text) => !/404/.test(text))).toEqual([]);
  });
});
