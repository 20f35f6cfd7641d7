/** The studio in headless Chromium: frames while scrubbing and panning, first paint, the size of the first script, and whether a million rows freeze the page. Without a graphics card the browser draws on the processor, so frames here are the least that users see. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type Browser, chromium, type Page } from 'playwright-core';
import { serveStudio } from '../src/cli/studio.ts';
import { RandomStream } from '../src/math/random.ts';
import { createRecording } from '../src/recording/node.ts';
import { trainInto } from '../src/training/node.ts';
import { readSettings } from '../src/training/settings.ts';
import { record } from './doctor.bench.ts';
import { type Frames, longTasks, pan, scrub, watchTasks } from './studio/page.ts';
import { type Figure, figure, median } from './support.ts';

export const needs = ['chromium'];

export interface StudioSizes {
  rows: number;
  points: number;
  frames: number;
  rounds: number;
  /** Of a long run, how many runs are shown together, and how many are listed. */
  iterations: number;
  pinned: number;
  listed: number;
}
const full: StudioSizes = {
  rows: 1_000_000,
  points: 1_000_000,
  frames: 300,
  rounds: 5,
  iterations: 12_000,
  pinned: 60,
  listed: 300,
};

type Serve = typeof serveStudio;
const executablePath = '/usr/bin/chromium';

export async function bench(
  say: (line: string) => void,
  sizes: StudioSizes = full,
  serve: Serve = serveStudio,
  assets = resolve('dist/studio'),
  openBrowser = () => chromium.launch({ executablePath, args: ['--no-sandbox'] }),
): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  say(`recording ${sizes.rows} rows, and a curve of ${sizes.points} points ...`);
  await record(join(folder, 'rows'), sizes.rows);
  await recordCurve(join(folder, 'curve'), sizes.points);
  await recordEpisodes(join(folder, 'hunt'));
  await recordLong(join(folder, 'long'), sizes.iterations);
  for (let i = 0; i < sizes.pinned; i++) await recordLong(join(folder, 'many', `run-${i}`), 200);
  const crowd = mkdtempSync(join(tmpdir(), 'trueline-bench-'));
  for (let i = 0; i < sizes.listed; i++) await recordLong(join(crowd, `run-${i}`), 20, i);
  const server = await serve(folder, { interval: 60_000 });
  const crowded = await serve(crowd, { interval: 60_000 });
  const browser = await openBrowser();
  try {
    const script = firstScript(assets);
    say('first paint ...');
    const paints: number[] = [];
    for (let i = 0; i < sizes.rounds; i++) paints.push(await firstPaint(browser, server.address));
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
    page.setDefaultTimeout(600_000);
    await watchTasks(page);
    say('scrubbing ...');
    const scrubbed = await scrubbing(page, server.address, sizes.frames);
    say('panning ...');
    await page.goto(`${server.address}#/runs?runs=curve&curves=noise`);
    await page.reload();
    await page.waitForSelector('.u-over');
    await pan(page, 30);
    const panned = await pan(page, sizes.frames);
    say('opening long runs, and many ...');
    const many = Array.from({ length: sizes.pinned }, (_, i) => `many/run-${i}`).join('|');
    const long = await opening(browser, `${server.address}#/runs?runs=long`, 1);
    const together = await opening(browser, `${server.address}#/runs?runs=${many}`, sizes.pinned);
    const listed = await listing(browser, crowded.address, sizes.listed);
    say('training ...');
    const trained = await firstChart(browser, server.address);
    say('dropping ...');
    const dropped = await dropping(page, server.address, join(folder, 'rows'));
    return [
      figure('first script, gzipped', script / 1000, 'kB', { most: 200 }),
      figure('first paint on loopback', median(paints), 'ms', { most: 1000 }, `median of ${sizes.rounds}`),
      figure(`a run of ${sizes.iterations} iterations, from the address to its curves`, long.seconds, 's', { most: 2 }),
      figure(`${sizes.pinned} runs together, from the address to their curves`, together.seconds, 's', { most: 5 }),
      figure(
        `${sizes.pinned} runs together: memory of the page`,
        together.memory,
        'MB',
        { most: 500 },
        'of its processes',
      ),
      figure(`${sizes.listed} runs, from the address to their list`, listed.first, 's', { most: 1 }),
      figure(`${sizes.listed} runs, until every row is drawn`, listed.every, 's'),
      figure('first chart of a training in the page, from its start', trained, 's', { most: 1 }, 'stag-hunt'),
      ...frameFigures('scrubbing a replay of 35 steps', scrubbed),
      ...frameFigures(`panning a curve of ${sizes.points} points`, panned),
      figure(`longest task while ${sizes.rows} rows are dropped and diagnosed`, dropped.longest, 'ms', { most: 200 }),
      figure('time from drop to verdict', dropped.seconds, 's', undefined, dropped.verdict),
    ];
  } finally {
    await browser.close();
    await server.close();
    await crowded.close();
    rmSync(crowd, { recursive: true, force: true });
    rmSync(folder, { recursive: true, force: true });
  }
}

/** 60 frames a second; the clock of frames jitters, so a frame counts as late where the next one was missed. */
function frameFigures(what: string, { intervals, work }: Frames): Figure[] {
  const late = intervals.filter((interval) => interval > 1.5 * (1000 / 60)).length / intervals.length;
  return [
    figure(`${what}: frames a second`, 1000 / median(intervals), '', { least: 59 }, 'by the median interval'),
    figure(`${what}: frames that came late`, 100 * late, '%'),
    figure(`${what}: the page's own work in a frame`, median(work), 'ms'),
  ];
}

/** What index.html loads before anything is shown. */
function firstScript(assets: string): number {
  const html = readFileSync(join(assets, 'index.html'), 'utf8');
  const paths = [...html.matchAll(/(?:src|href)="\.\/(assets\/[^"]+\.js)"/g)].map(([, path]) => path);
  return paths.reduce((sum, path) => sum + gzipSync(readFileSync(join(assets, path))).length, 0);
}

async function firstPaint(browser: Browser, address: string): Promise<number> {
  // A context of its own has an empty cache.
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  await page.waitForSelector('nav a');
  const [paint] = await page.evaluate(async () => {
    for (;;) {
      const found = performance.getEntriesByName('first-contentful-paint').map(({ startTime }) => startTime);
      if (found.length > 0) return found;
      await new Promise(requestAnimationFrame);
    }
  });
  await context.close();
  return paint;
}

/** Seconds until the curves of so many runs are there, and the memory that the page has then. */
async function opening(browser: Browser, address: string, runs: number): Promise<{ seconds: number; memory: number }> {
  const before = new Set(await renderers(browser));
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(600_000);
  const begun = performance.now();
  await page.goto(address);
  await page.waitForFunction(
    (wanted) =>
      (document.querySelector('[data-testid=legend]')?.childElementCount ?? 1) >= wanted &&
      !document.querySelector('progress'),
    runs,
  );
  await page.waitForSelector('.u-over');
  const seconds = (performance.now() - begun) / 1000;
  const own = (await renderers(browser)).filter((id) => !before.has(id));
  const memory = own.reduce((sum, id) => sum + memoryOf(id), 0);
  await context.close();
  return { seconds, memory };
}

/** The browser's processes that hold pages. */
async function renderers(browser: Browser): Promise<number[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
}

/** Megabytes of a process, what it shares with others counted in part. */
function memoryOf(process: number): number {
  const text = readFileSync(`/proc/${process}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? Number.NaN) / 1000;
}

/** Seconds until a list names so many runs and shows the first, and until it shows every one of them. */
async function listing(browser: Browser, address: string, runs: number): Promise<{ first: number; every: number }> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(600_000);
  const begun = performance.now();
  const shown = async (rows: number) => {
    await page.waitForFunction(
      ([rows, runs]) =>
        document.querySelector('summary')?.textContent?.includes(`(${runs})`) &&
        document.querySelectorAll('[data-testid=run-table] tbody tr').length >= rows,
      [rows, runs],
    );
    return (performance.now() - begun) / 1000;
  };
  await page.goto(`${address}#/runs?table=1`);
  const first = await shown(1);
  const every = await shown(runs);
  await context.close();
  return { first, every };
}

/** Seconds from the click on "train" to a chart. */
async function firstChart(browser: Browser, address: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  const page = await context.newPage();
  page.setDefaultTimeout(600_000);
  await page.goto(`${address}#/train?game=stag-hunt`);
  await page.waitForSelector('button.primary');
  const begun = performance.now();
  await page.click('button.primary');
  await page.waitForSelector('.u-over');
  const seconds = (performance.now() - begun) / 1000;
  await context.close();
  return seconds;
}

async function scrubbing(page: Page, address: string, frames: number): Promise<Frames> {
  // Untrained agents often play to the end; the first episode that does is taken.
  await page.goto(`${address}#/replay?run=hunt&find=length%3D35`);
  await page.locator('[data-episode]').first().click();
  await page.waitForSelector('input.scrub[max="35"]');
  await page.waitForSelector('canvas[data-step="0"]');
  // Every picture has been drawn once before the clock starts.
  await scrub(page, 72);
  return scrub(page, frames);
}

async function dropping(page: Page, address: string, run: string) {
  await page.goto(`${address}#/drop`);
  await page.reload();
  await page.waitForSelector('[data-testid=folder]', { state: 'attached' });
  await longTasks(page);
  const begun = performance.now();
  await page.setInputFiles('[data-testid=folder]', run);
  await page.waitForSelector('.verdict');
  const seconds = (performance.now() - begun) / 1000;
  await page.waitForSelector('.chart svg');
  await page.waitForTimeout(500);
  const tasks = await longTasks(page);
  return { seconds, longest: Math.max(0, ...tasks), verdict: (await page.locator('.verdict h1').textContent()) ?? '' };
}

/** One reading with a point for each iteration: noise around a slow wave. */
async function recordCurve(folder: string, points: number): Promise<void> {
  const writer = await createRecording(folder, { format: 'trueline/1', name: 'curve' });
  const stream = RandomStream.of(1, 'curve');
  const portion = 50_000;
  for (let first = 0; first < points; first += portion) {
    const count = Math.min(portion, points - first);
    await writer.append('scalars', {
      iteration: Int32Array.from({ length: count }, (_, i) => first + i),
      name: Array.from({ length: count }, () => 'noise'),
      value: Float64Array.from({ length: count }, (_, i) => Math.sin((first + i) / 5e4) + stream.uniform()),
    });
  }
  await writer.close();
}

/** A run as a trainer leaves it: two dozen readings, in chunks that were merged as it went. */
async function recordLong(folder: string, iterations: number, seed = 1): Promise<void> {
  const run = readSettings({ game: 'stag-hunt', seed });
  const writer = await createRecording(folder, { format: 'trueline/1', name: 'long', seed, run, ended: 'finished' });
  const stream = RandomStream.of(2, 'long');
  const names = Array.from({ length: 24 }, (_, i) => `reading ${i}`);
  const portion = 20;
  for (let first = 0; first < iterations; first += portion) {
    const rows = names.length * Math.min(portion, iterations - first);
    const at = Int32Array.from({ length: rows }, (_, i) => first + Math.floor(i / names.length));
    await writer.append('scalars', {
      iteration: at,
      step: Float64Array.from(at, (i) => 64 * i),
      name: Array.from({ length: rows }, (_, i) => names[i % names.length]),
      value: Float64Array.from({ length: rows }, () => stream.uniform()),
    });
    await writer.flush();
  }
  await writer.merge(writer.position());
  await writer.close();
}

async function recordEpisodes(folder: string): Promise<void> {
  const settings = readSettings({ game: 'stag-hunt', worlds: 16, rollout: 64, steps: 16 * 64 * 4, kernel: 'simd' });
  (await trainInto(folder, settings)).dispose();
}
