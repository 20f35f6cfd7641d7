/** The studio in a real browser: drop, live runs, training, replay, comparison, export, languages, on real recordings. */
import { cpSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findFault } from '../../src/faults/index.ts';
import { folderStore, packZip } from '../../src/recording/node.ts';
import { findChromium, savedBy } from '../support/browser.ts';
import { root, temporaryFolder } from '../support/run.ts';
import { openPage, record as recordInto, type Served, serveStudio } from '../support/studio.ts';

const folder = temporaryFolder();
const runs = join(folder, 'runs');
const hostile = '<img src=x onerror=window.hacked=1>';
const record = (name: string, settings: object, fault?: string) => recordInto(join(runs, name), settings, fault);

describe.skipIf(!findChromium())('the studio in a browser', () => {
  let browser: Browser;
  let page: Page;
  let server: Served;
  const complaints: string[] = [];

  beforeAll(async () => {
    mkdirSync(runs, { recursive: true });
    await record('hunt-1', { game: 'stag-hunt', seed: 1, steps: 16 * 32 * 4 * 6 });
    await record('hunt-2', { game: 'stag-hunt', seed: 2, steps: 16 * 32 * 4 * 6 });
    await record('hunt-slow', { game: 'stag-hunt', seed: 1, steps: 16 * 32 * 4 * 6, ppo: { learningRate: 1e-4 } });
    await record('late', { game: 'echo', gameSettings: { seats: 2 }, steps: 16 * 32 * 2 * 6 }, 'advantage-late');
    // Names that would be markup if they were ever taken for it.
    await record('hostile', {
      game: 'echo',
      gameSettings: { seats: 2 },
      names: [hostile, 'b'],
      steps: 16 * 32 * 2 * 3,
    });
    renameSync(join(runs, 'hostile'), join(runs, hostile));
    await packZip(folderStore(join(runs, 'late')), join(folder, 'late.zip'));
    server = await serveStudio(runs, { interval: 100 });
    ({ browser, page } = await openPage(complaints));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  const textOf = async (selector: string) => (await page.locator(selector).allInnerTexts()).join('\n');
  const open = async (hash: string) => {
    await page.goto('about:blank');
    await page.goto(`${server.address}${hash}`);
  };

  it('diagnoses a dropped folder in the page, verdict first, with remedy and what was not checked', async () => {
    await open('#/drop');
    const asked: string[] = [];
    page.on('request', (request) => {
      if (request.method() !== 'GET') asked.push(request.url());
    });
    await page.setInputFiles('[data-testid=folder]', join(runs, 'late'));
    await page.waitForSelector('.verdict.faulty', { timeout: 60_000 });
    const text = await textOf('main');
    expect(text).toContain(findFault('advantage-late').cause);
    expect(text).toMatch(/What to change/i);
    expect(text).toMatch(/What was checked/i);
    expect(asked).toEqual([]);
    await page.screenshot({ path: join(folder, 'drop.png') });
  });

  it('diagnoses a dropped zip, and says in a sentence what is wrong with a file that is none', async () => {
    await open('#/drop');
    await page.setInputFiles('[data-testid=files]', join(folder, 'late.zip'));
    await page.waitForSelector('.verdict.faulty', { timeout: 60_000 });
    writeFileSync(join(folder, 'broken.zip'), 'no zip at all');
    await page.setInputFiles('[data-testid=files]', join(folder, 'broken.zip'));
    await page.waitForSelector('[role=alert]');
    expect(await textOf('[role=alert]')).toMatch(/broken\.zip/);
  });

  it('shows runs as they are written, readings in their bands, and keeps the filter in the address', async () => {
    await open('#/runs?runs=hunt-1');
    await page.waitForSelector('.u-over');
    expect(await textOf('main')).toContain('player_1');
    cpSync(join(runs, 'hunt-2'), join(runs, 'arriving'), { recursive: true });
    await page.waitForSelector('text=arriving');
    await page.fill('.aside input[type=search]', 'arriv');
    await page.waitForFunction(() => !document.body.textContent?.includes('hunt-slow'));
    expect(page.url()).toContain('filter=arriv');
    for (const axis of ['step', 'elapsed', 'time']) {
      await page.selectOption('[data-testid=axis]', axis);
      await page.waitForSelector('.u-over');
    }
  });

  it('puts seeds of one setting together as a band and says how many there are', async () => {
    await open('#/runs?runs=hunt-1|hunt-2&group=settings&curves=return');
    await page.waitForSelector('text=n = 2');
  });

  it('plays a recorded episode again, step by step, with what each agent weighed', async () => {
    await open('#/replay?run=hunt-1');
    await page.waitForSelector('canvas[data-step="0"]', { timeout: 60_000 });
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('canvas[data-step="1"]');
    expect(page.url()).toContain('step=1');
    const text = await textOf('main');
    expect(text).toContain('player_1');
    expect(text).toMatch(/up|down|left|right|stay/);
    const drawn = await page.evaluate(() => {
      const canvas = document.querySelector('canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(Array.from({ length: data.length / 4 }, (_, i) => `${data[4 * i]} ${data[4 * i + 1]}`)).size;
    });
    expect(drawn).toBeGreaterThan(10);
    // The link leads back to the same moment.
    const link = page.url();
    await open('#/drop');
    await page.goto(link);
    await page.waitForSelector('canvas[data-step="1"]', { timeout: 60_000 });
  });

  it('plays fresh episodes of the three games', async () => {
    await open('#/replay');
    for (const game of ['stag-hunt', 'snowdrift', 'city']) {
      await page.click(`button:text-is("${game}")`);
      await page.waitForSelector('canvas[data-step="0"]', { timeout: 60_000 });
    }
  });

  it('marks the moment that is clicked in a curve, and offers an episode of it', async () => {
    await open('#/runs?runs=hunt-1&curves=return');
    await page.waitForSelector('.u-over');
    await page.locator('.u-over').first().click();
    await page.waitForSelector('[data-testid=moment]');
    expect(page.url()).toContain('#/runs');
    expect(page.url()).toMatch(/[?&]at=[\d.]+/);
    await page.click('[data-testid=moment] a');
    await page.waitForSelector('canvas[data-step="0"]', { timeout: 60_000 });
    expect(page.url()).toContain('#/replay');
  });

  it('trains in the page on two threads, names the fault, and finds the run healthy once it is switched off', async () => {
    await open('#/train?game=echo&fault=subset-sorted');
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    const set = async (path: string, value: string) => {
      await page.fill(`label:has(code:text-is("${path}")) input`, value);
    };
    await set('steps', '1000000');
    await set('worlds', '16');
    await set('rollout', '32');
    await page.click('button.primary');
    await page.waitForSelector('.verdict.faulty', { timeout: 120_000 });
    expect(await textOf('main')).toContain(findFault('subset-sorted').cause);
    await page.click('text=Go on without the fault');
    await page.waitForSelector('.verdict.healthy', { timeout: 120_000 });
    await page.click('button:text-is("Stop")');
    await page.waitForSelector('text=2 threads', { timeout: 60_000 });
  });

  it('compares runs: settings that differ, and the difference by paired seed', async () => {
    await open('#/compare?runs=hunt-1|hunt-slow&curves=return');
    await page.waitForSelector('td:has-text("learning_rate")');
    await page.waitForSelector('text=Difference by paired seed');
  });

  it('saves a picture as SVG and its data as CSV', async () => {
    await open('#/runs?runs=hunt-1&curves=return');
    await page.waitForSelector('.u-over');
    const save = async (label: string) =>
      (await savedBy(page, () => page.click(`figure button:text-is("${label}")`))).text;
    expect(await save('SVG')).toMatch(/^<svg .*player_1.*<\/svg>\s*$/s);
    const csv = await save('CSV');
    expect(csv.split('\n').length).toBeGreaterThan(8);
    expect(csv).toMatch(/"player_1",0,-?\d/);
  });

  it('speaks Chinese when asked, and remembers it and the dark theme', async () => {
    await open('#/drop');
    await page.selectOption('header select', 'zh');
    await page.waitForSelector('text=拖入一次训练');
    await page.click('header button');
    const dark = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.reload();
    await page.waitForSelector('text=拖入一次训练');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(dark);
    await page.selectOption('header select', 'en');
  });

  it('shows hostile names as text', async () => {
    await open(`#/runs?runs=${encodeURIComponent(hostile)}`);
    await page.waitForSelector('.u-over');
    expect(await textOf('main')).toContain(hostile);
    await page.waitForSelector('.verdict', { timeout: 60_000 });
    expect(await page.evaluate(() => (globalThis as { hacked?: number }).hacked)).toBeUndefined();
    expect(await page.locator('img[src=x]').count()).toBe(0);
  });

  it('works from any web server, below any path, with no server of its own', async () => {
    const kinds: Record<string, string> = {
      '.html': 'text/html',
      '.js': 'text/javascript',
      '.css': 'text/css',
      '.svg': 'image/svg+xml',
    };
    const plain = createServer((request, response) => {
      const path = (request.url ?? '').replace(/^\/deep\/path\//, '').replace(/[?#].*/, '') || 'index.html';
      try {
        const bytes = readFileSync(join(root, 'dist/studio', path));
        response.writeHead(200, { 'Content-Type': kinds[extname(path)] ?? 'application/octet-stream' }).end(bytes);
      } catch {
        response.writeHead(404).end();
      }
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const other = await browser.newPage();
    await other.goto(`http://127.0.0.1:${(plain.address() as AddressInfo).port}/deep/path/`);
    await other.setInputFiles('[data-testid=files]', join(folder, 'late.zip'));
    await other.waitForSelector('.verdict.faulty', { timeout: 60_000 });
    await other.close();
    plain.close();
  });

  it('never broke its content security policy, nor threw', () => {
    // A page without a server asks for one once, and is told 404.
    expect(complaints.filter((text) => !/404|400/.test(text))).toEqual([]);
  });
});
