/** The studio in a real browser: drop, live runs, training, replay, comparison, export, languages, on real recordings. */
import { cpSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findFault } from '../../src/faults/index.ts';
import { folderStore, packZip } from '../../src/recording/node.ts';
import { findChromium, savedBy } from '../support/browser.ts';
import { root } from '../support/run.ts';
import { english, record, studioPage } from '../support/studio.ts';

const hostile = '<img src=x onerror=window.hacked=1>';

describe.skipIf(!findChromium())('the studio in a browser', () => {
  const { held, folder, runs, page, complaints, open, textOf } = studioPage(async (runs) => {
    const make = (name: string, settings: object, fault?: string) => record(join(runs, name), settings, fault);
    const hunt = { game: 'stag-hunt', seed: 1, steps: 16 * 32 * 4 * 6 };
    await make('hunt-1', hunt);
    await make('hunt-2', { ...hunt, seed: 2 });
    await make('hunt-slow', { ...hunt, ppo: { learningRate: 1e-4 } });
    const echo = { game: 'echo', gameSettings: { seats: 2 }, steps: 16 * 32 * 2 * 6 };
    await make('late', echo, 'advantage-late');
    // Names that would be markup if they were ever taken for it.
    await make('hostile', { ...echo, names: [hostile, 'b'], steps: 16 * 32 * 2 * 3 });
    renameSync(join(runs, 'hostile'), join(runs, hostile));
    await packZip(folderStore(join(runs, 'late')), join(runs, '..', 'late.zip'));
  });

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
    await expect.poll(() => textOf('[role=alert]')).toMatch(/broken\.zip/);
  });

  it('shows runs as they are written, readings in their bands, and keeps the filter in the address', async () => {
    await open('#/runs?runs=hunt-1');
    await page.waitForSelector('.u-over');
    await expect.poll(() => textOf('main')).toContain('player_1');
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

  it('plays a recorded episode again, step by step, on a large board, with what each agent weighed, each in its place', async () => {
    await open('#/replay?run=hunt-1');
    await page.waitForSelector('canvas[data-step="0"]', { timeout: 60_000 });
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('canvas[data-step="1"]');
    // The address follows a little later.
    await expect.poll(() => page.url()).toContain('step=1');
    const text = await textOf('main');
    expect(text).toContain('player_1');
    expect(text).toMatch(/up|down|left|right|stay/);
    // One count of steps: the board has none of its own.
    expect(text.match(/step \d+ of \d+/g)).toHaveLength(1);
    const board = (await page.locator('canvas').boundingBox())!;
    expect(board.height).toBeGreaterThan(450);
    const controls = (await page.locator('[data-testid=controls]').boundingBox())!;
    expect(controls.y + controls.height).toBeLessThan(900);
    const places = () =>
      page.locator('[data-agent]').evaluateAll((cards) =>
        cards.map((card) => {
          const { x, y } = card.getBoundingClientRect();
          return [(card as HTMLElement).dataset.agent, x, y];
        }),
      );
    const before = await places();
    expect(before.map(([name]) => name)).toEqual(['player_1', 'player_2', 'player_3', 'player_4']);
    await page.keyboard.press('End');
    const last = await page.locator('input.scrub').getAttribute('max');
    await page.waitForSelector(`canvas[data-step="${last}"]`);
    // At the end nobody acts, and everybody is where it was.
    expect(await places()).toEqual(before);
    await page.keyboard.press('Home');
    await page.keyboard.press('+');
    expect(page.url()).toContain('speed=8');
    await page.keyboard.press('Space');
    await page.waitForSelector(`canvas[data-step="${last}"]`);
    await page.waitForSelector('button.play:text-is("Play")');
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('canvas[data-step="1"]');
    const drawn = await page.evaluate(() => {
      const canvas = document.querySelector('canvas')!;
      const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(Array.from({ length: data.length / 4 }, (_, i) => `${data[4 * i]} ${data[4 * i + 1]}`)).size;
    });
    expect(drawn).toBeGreaterThan(10);
    // The link leads back to the same moment.
    await expect.poll(() => page.url()).toMatch(/step=1(&|$)/);
    const link = page.url();
    await open('#/drop');
    await page.goto(link);
    await page.waitForSelector('canvas[data-step="1"]', { timeout: 60_000 });
  });

  it('finds episodes by their returns, and shows several side by side', async () => {
    await open('#/replay?run=hunt-1');
    const rows = page.locator('[data-episode]');
    await rows.first().waitFor();
    const all = await rows.count();
    expect(all).toBeGreaterThan(5);
    await page.selectOption('[data-testid=episodes] select', 'best');
    const mean = async (row: number) => Number(await rows.nth(row).locator('b').last().textContent());
    expect(await mean(0)).toBeGreaterThanOrEqual(await mean(1));
    const [best, iteration] = [await mean(0), /iteration (\d+)/.exec((await rows.first().textContent())!)![1]];
    await page.fill('[data-testid=episodes] input[type=search]', `return<${best}`);
    await expect.poll(() => rows.count()).toBeLessThan(all);
    expect(await mean(0)).toBeLessThan(best);
    await page.fill('[data-testid=episodes] input[type=search]', `iteration=${iteration}`);
    await expect
      .poll(async () => (await rows.allTextContents()).every((text) => text.includes(`iteration ${iteration},`)))
      .toBe(true);
    expect(page.url()).toContain('find=iteration');
    await page.fill('[data-testid=episodes] input[type=search]', '');
    await expect.poll(() => rows.count()).toBe(all);
    await rows.first().click();
    const [first, second] = await rows.evaluateAll((some) => some.map((row) => (row as HTMLElement).dataset.episode));
    await page.waitForFunction((wanted) => location.hash.includes(`episode=${wanted}&`), first);
    await page.check(`input[aria-label="Show episode ${second} beside the others"]`);
    await page.waitForFunction(() => document.querySelectorAll('canvas[data-step="0"]').length === 2);
    // One slider moves both, and the episode in front is the one whose thoughts are shown.
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => document.querySelectorAll('canvas[data-step="1"]').length === 2);
    await expect.poll(() => page.locator('figure button[aria-pressed=true]').textContent()).toBe(`Episode ${second}`);
    await page.click(`button[aria-label="Take episode ${first} away"]`);
    await page.waitForFunction(() => document.querySelectorAll('canvas').length === 1);
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
    const set = async (path: string, value: string) => {
      await page.fill(`label:has(code:text-is("${path}")) input`, value);
    };
    // A game that can be drawn plays beside its curves.
    await open('#/train?game=stag-hunt');
    await set('worlds', '16');
    await page.click('button.primary');
    await page.waitForSelector('.u-over');
    await page.waitForSelector('[data-testid=board] canvas[data-step]');
    // The doctor waits for nobody: it has a worker of its own.
    const workers = page.workers().map((worker) => worker.url());
    expect(workers.filter((url) => url.includes('train.worker'))).toHaveLength(1);
    expect(workers.some((url) => url.includes('run.worker'))).toBe(true);
    await open('#/train?game=echo&fault=subset-sorted');
    expect(await page.evaluate(() => crossOriginIsolated)).toBe(true);
    await set('steps', '1000000');
    await set('worlds', '16');
    await set('rollout', '32');
    // What is said of the run, with the steps that were done when it was said.
    await page.evaluate(() => {
      const said: [string, number, boolean][] = [];
      Object.assign(globalThis, { said });
      new MutationObserver(() => {
        const verdict = document.querySelector('main .verdict')?.className ?? '';
        const done = Number(document.querySelector('main progress')?.getAttribute('value') ?? 0);
        if (verdict !== said.at(-1)?.[0]) said.push([verdict, done, document.querySelector('.u-over') !== null]);
      }).observe(document.querySelector('main')!, { subtree: true, childList: true, attributes: true });
    });
    await page.click('button.primary');
    await page.waitForSelector('.verdict.faulty', { timeout: 120_000 });
    await expect.poll(() => textOf('main')).toContain(findFault('subset-sorted').cause);
    // The trainer's own reports are drawn before any file is there for the doctor.
    const said = () => page.evaluate(() => (globalThis as unknown as { said: [string, number, boolean][] }).said);
    expect((await said()).find(([verdict]) => verdict !== '')?.[2]).toBe(true);
    await page.click('text=Go on without the fault');
    await page.waitForSelector('.verdict.healthy', { timeout: 120_000 });
    for (const [verdict, done] of await said()) if (verdict.includes('healthy')) expect(done).toBeGreaterThan(0);
    // One curve with a mark, and nothing of it is lost while one looks elsewhere.
    await page.waitForSelector('.plot[aria-label*="fault off"]');
    await page.click('nav a:text-is("Replay")');
    await page.waitForFunction(() => location.hash.startsWith('#/replay'));
    await page.click('nav a:text-is("Train")');
    await page.waitForSelector('.plot[aria-label*="fault off"]');
    expect(page.url()).toContain('fault=subset-sorted');
    expect(await page.inputValue('label:has(code:text-is("worlds")) input')).toBe('16');
    await page.click('button:text-is("Stop")');
    await page.waitForSelector('text=2 threads', { timeout: 60_000 });
    const { text: csv } = await savedBy(page, () => page.locator('figure button:text-is("CSV")').first().click());
    const iterations = csv
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','))
      .filter(([name], _, rows) => name === rows[0][0])
      .map(([, iteration]) => Number(iteration));
    expect(iterations).toEqual(iterations.map((_, i) => iterations[0] + i));
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
    await open('#/runs?runs=late&whole=1');
    await page.waitForSelector('.checks');
    await expect.poll(() => english(page)).toEqual([]);
    await open('#/drop');
    await page.waitForSelector('text=拖入一次训练');
    await page.click('header button[aria-label]');
    const dark = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.reload();
    await page.waitForSelector('text=拖入一次训练');
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(dark);
    await page.selectOption('header select', 'en');
  });

  it('shows hostile names as text', async () => {
    await open(`#/runs?runs=${encodeURIComponent(hostile)}`);
    await page.waitForSelector('.u-over');
    await expect.poll(() => textOf('main')).toContain(hostile);
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
    const other = await held.browser.newPage();
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
