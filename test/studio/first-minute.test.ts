/** The studio as a newcomer meets it: the answer first, charts as people know them, the table of runs, drops that stay, and a server that goes and comes back. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { causeById } from '../../src/doctor/causes.ts';
import { findFault } from '../../src/faults/index.ts';
import { number } from '../../src/report/number.ts';
import { decodeSummary } from '../../src/report/studio/summary.ts';
import { compareRuns } from '../../src/sweep/compare.ts';
import { readRuns } from '../../src/sweep/node.ts';
import { findChromium } from '../support/browser.ts';
import { writeInvestigation } from '../support/investigation.ts';
import { longRun, record, serveStudio, studioPage } from '../support/studio.ts';

const cause = causeById(findFault('advantage-late').cause)!;

describe.skipIf(!findChromium())('the first minute with the studio', () => {
  const { held, folder, runs, page, complaints, asked, open, textOf, graph, drop } = studioPage(async (runs) => {
    await longRun(join(runs, 'long'), 12_000);
    const echo = { game: 'echo', gameSettings: { seats: 2 }, steps: 16 * 32 * 2 * 6 };
    await record(join(runs, 'healthy'), echo);
    await record(join(runs, 'late'), echo, 'advantage-late');
  });

  it('lands on the faulty run beside the healthy one, with the cause in a sentence, and every row says how its run did', async () => {
    await open('');
    await page.waitForSelector('[data-testid=headline].faulty');
    await page.waitForSelector('[data-testid=headline].healthy');
    expect(page.url()).toMatch(/runs=late%7Chealthy/);
    const headline = page.locator('[data-testid=headline].faulty');
    await expect.poll(() => headline.locator('h1').innerText()).toBe(cause.meaning);
    const row = page.locator('[data-testid=run-list] li', { hasText: 'late' }).first();
    await expect.poll(() => row.locator('[data-verdict=faulty]').count()).toBe(1);
    await expect.poll(() => row.locator('[data-testid=spark]').count()).toBe(1);
    for (const fact of ['Return', 'Time'])
      await expect.poll(() => row.locator(`.facts [title*="${fact}"]`).textContent(), { message: fact }).toMatch(/\d/);
    // The whole diagnosis says nothing twice, and what failed comes first.
    await headline.locator('a').click();
    await page.waitForSelector('.checks .mark');
    const text = await textOf('main');
    expect(text.split(cause.meaning)).toHaveLength(2);
    await expect.poll(() => page.locator('.checks .mark').first().getAttribute('class')).toContain('fail');
    // A second studio knows the verdict at once: it was kept.
    const second = await serveStudio(runs, { interval: 60_000 });
    const listed = (await (await fetch(`${second.address}api/runs`)).json()) as {
      runs: { id: string; verdict?: { verdict: string } }[];
    };
    await second.close();
    expect(listed.runs.find(({ id }) => id === 'late')?.verdict?.verdict).toBe('faulty');
  });

  it('says what is missing where a link is dead, beside what is there', async () => {
    await open('#/runs?runs=healthy|gone');
    await page.waitForSelector('[role=alert]');
    await expect.poll(() => textOf('[role=alert]')).toContain('no run called gone');
    await page.waitForSelector('.u-over');
  });

  it('opens 12,000 iterations with one request for their curves, in few files, and refines what one zooms into', async () => {
    // While the curves are on their way, something moves.
    await page.route('**/api/curves/**', async (route) => {
      await page.waitForSelector('main progress');
      await route.continue();
    });
    await open('#/runs?runs=long');
    await page.waitForSelector('.u-over');
    await page.unroute('**/api/curves/**');
    const curves = () => asked.filter((url) => url.includes('/api/curves/'));
    expect(curves()).toHaveLength(1);
    expect(asked.filter((url) => url.includes('/file/'))).toEqual([]);
    const files = (await (await fetch(`${held.server.address}api/files/long`)).json()) as { files: unknown[] };
    expect(files.files.length).toBeLessThan(200);
    // Thinned to 2,000 points a curve, and no spike is lost on the way.
    const answer = await fetch(`${held.server.address}api/curves/long?points=2000`);
    const { curves: sent, exact } = decodeSummary(await answer.arrayBuffer());
    expect(exact).toBe(false);
    for (const { value } of sent) expect(value.length).toBeLessThanOrEqual(2000);
    expect(Math.max(...sent[0].value)).toBe(50);
    const box = (await graph().boundingBox())!;
    const [left, right] = [box.x + box.width * 0.6, box.x + box.width * 0.7];
    await page.mouse.move(left, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(right, box.y + 24, { steps: 4 });
    await page.mouse.up();
    await page.waitForFunction(() => /zoom=[\d.]+~/.test(decodeURIComponent(location.hash)));
    await expect.poll(() => curves().length).toBe(2);
    expect(curves()[1]).toMatch(/from=[\d.]+/);
    // The range is the same moments on the other axis, and a double click shows everything.
    const range = () =>
      decodeURIComponent(/zoom=([^&]*)/.exec(page.url())?.[1] ?? '')
        .split('~')
        .map(Number);
    const before = range();
    await page.selectOption('[data-testid=axis]', 'step');
    await page.waitForFunction(() => location.hash.includes('axis=step'));
    expect(range()[0] / 64).toBeCloseTo(before[0], 0);
    await graph().dblclick();
    await page.waitForFunction(() => !location.hash.includes('zoom='));
  });

  it('scrolls the page with the wheel and zooms with Ctrl; cursor, tooltip and legend are shared', async () => {
    await open('#/runs?runs=late|healthy&curves=e');
    await page.waitForSelector('[data-testid=legend]');
    await graph().hover({ position: { x: 100, y: 60 } });
    await page.waitForSelector('[data-testid=tip]');
    const height = () => page.locator('[data-testid=tip]').evaluate((tip) => tip.getBoundingClientRect().height);
    const first = await height();
    await graph().hover({ position: { x: 180, y: 90 } });
    expect(await height()).toBe(first);
    await expect
      .poll(() => page.locator('[data-testid=tip]').first().locator('tr').first().locator('td').count())
      .toBe(2);
    // The other charts show the same place.
    expect(
      await page
        .locator('.u-cursor-x')
        .nth(1)
        .evaluate((line) => getComputedStyle(line).transform),
    ).not.toBe('none');
    await page.mouse.wheel(0, 200);
    await page.waitForFunction(() => scrollY > 0);
    expect(page.url()).not.toContain('zoom=');
    await page.evaluate(() => scrollTo(0, 0));
    await graph().hover({ position: { x: 100, y: 60 } });
    await page.keyboard.down('Control');
    await page.mouse.wheel(0, -200);
    await page.keyboard.up('Control');
    await page.waitForFunction(() => location.hash.includes('zoom='));
    const toggle = page.locator('[data-testid=legend] button').first();
    // A pointer on a name makes its line stand out, in the other charts too.
    const drawn = () =>
      page.evaluate(() => [...document.querySelectorAll('canvas')].slice(0, 2).map((one) => one.toDataURL()));
    await page.mouse.move(0, 0);
    const plain = await drawn();
    await toggle.hover();
    await expect.poll(async () => (await drawn()).every((picture, i) => picture !== plain[i])).toBe(true);
    await page.mouse.move(0, 0);
    await expect.poll(drawn).toEqual(plain);
    await toggle.click();
    expect(await toggle.getAttribute('aria-pressed')).toBe('false');
    const label = await toggle.innerText();
    expect(
      await page.locator(`[data-testid=legend] button[aria-pressed=false]:has-text("${label.trim()}")`).count(),
    ).toBeGreaterThan(1);
    await page.check('label:has-text("log axis") input');
    await page.waitForFunction(() => location.hash.includes('log=1'));
    for (const name of ['Learning', 'Readings', 'Gradients', 'Counters'])
      await expect.poll(() => textOf('h2')).toContain(name);
    await expect.poll(() => page.locator('.sentence').count()).toBeGreaterThan(3);
    // Runs are told apart by colour.
    const dots = await page
      .locator('[data-testid=run-list] i')
      .evaluateAll((all) => all.map((dot) => (dot as HTMLElement).style.background));
    expect(new Set(dots.slice(0, 2)).size).toBe(2);
  });

  it('is a table that filters, sorts, tags and bins, and puts back', async () => {
    await open('#/runs?table=1');
    const rows = page.locator('[data-testid=run-table] tbody tr');
    await expect.poll(() => rows.count()).toBe(3);
    await page.fill('.aside input[type=search]', 'gamma=0.99 verdict=faulty');
    await expect.poll(() => rows.count()).toBe(1);
    await expect.poll(() => rows.first().innerText()).toContain('advantage-late');
    await page.fill('.aside input[type=search]', '');
    await page.click('[data-testid=run-table] th button:text-matches("Return")');
    await page.waitForFunction(() => location.hash.includes('sort=return'));
    await page.click('button[aria-label="Tags and note of late"]');
    await page.fill('input[aria-label="Tags, separated by blanks"]', 'keep odd');
    await page.click('button:text-is("Save")');
    await page.waitForSelector('.tag:text-is("odd")');
    await page.click('button[aria-label="Tags and note of late"]');
    await page.fill('input[aria-label="Note"]', 'lags one step');
    await page.click('button:text-is("Save")');
    await page.waitForSelector('tr:has(.tag:text-is("keep")) :text("lags one step")');
    const groups = page.locator('label:has-text("Group by") select');
    await groups.selectOption('verdict');
    await page.waitForSelector('tr.group:has-text("verdict=faulty")');
    await expect.poll(() => page.locator('tr.group').count()).toBeGreaterThan(1);
    await groups.selectOption('');
    await page.check('input[aria-label="Select long"]');
    await page.click('button:text-is("To the bin")');
    await expect.poll(() => rows.count()).toBe(2);
    await page.click('summary:has-text("in the bin")');
    await page.click('button:text-is("Put back")');
    await expect.poll(() => rows.count()).toBe(3);
    await page.check('input[aria-label="Select all"]');
    await expect.poll(() => textOf('main')).toContain('3 selected');
    await page.click('button:text-is("Diagnose selected")');
    await page.click('button:text-is("Show charts")');
    await page.waitForFunction(() => decodeURIComponent(location.hash).split('|').length === 3);
  });

  it('takes a folder of several recordings on any view, keeps them over a reload, and says what it cannot read', async () => {
    await open('#/drop');
    await page.setInputFiles('[data-testid=folder]', runs);
    await page.waitForFunction(() =>
      decodeURIComponent(location.hash.replaceAll('+', ' ')).includes('dropped runs/late'),
    );
    await page.waitForSelector('[data-testid=run-list] li:has-text("dropped runs/late") [data-verdict=faulty]');
    await open('#/drop?run=dropped+runs%2Flate');
    await page.waitForSelector('.verdict.faulty');
    writeFileSync(join(folder, 'paper.pdf'), '%PDF-1.4 nothing that is a log');
    await page.setInputFiles('[data-testid=files]', join(folder, 'paper.pdf'));
    await page.waitForSelector('[role=alert]:has-text("paper.pdf")');
    await open('#/drop?run=dropped+nowhere');
    await page.waitForSelector('[role=alert]:has-text("nowhere")');
    // Anything can be dropped anywhere.
    for (const view of ['runs', 'train', 'replay', 'compare', 'symmetry', 'crossplay', 'queue']) {
      await page.evaluate((view) => {
        location.hash = `#/${view}`;
      }, view);
      await page.waitForSelector(`nav a[aria-current=page][href^="#/${view}"]`);
      await drop({ [`${view}.csv`]: 'step,approx_kl,entropy\n1,0,1.6\n2,0,1.6\n3,0,1.6\n4,0,1.6\n' });
      await page.waitForSelector(`h2:text-is("${view}.csv")`);
    }
    // A log's headline is what decides, in words, with its curve.
    const headline = page.locator('[data-testid=headline] h1');
    await headline.waitFor();
    await expect.poll(() => headline.textContent()).toMatch(/approx_kl is 0/);
    await page.waitForSelector('.pictures .chart svg');
    await drop({});
    await page.waitForSelector('[role=alert]:has-text("holds no file that can be read")');
  });

  it('folds a sweep and an investigation into one row each, and compares with what differs, the fault among it', async () => {
    for (const whole of ['gamma', 'fair'])
      for (const name of ['a', 'b']) cpSync(join(runs, 'healthy'), join(runs, whole, name), { recursive: true });
    writeFileSync(join(runs, 'gamma', 'sweep.json'), '{}');
    writeInvestigation(join(runs, 'fair'), 3, 'done');
    for (const [view, list, line] of [
      ['&table=1', '[data-testid=run-table]', 'tr'],
      ['', '[data-testid=run-list]', 'li'],
    ]) {
      await open(`#/runs?runs=late${view}`);
      for (const whole of ['gamma', 'fair']) {
        const fold = page.locator(`${list} ${line}:has-text("${whole}"):has-text("2 runs") button`);
        await fold.waitFor();
        const inside = page.locator(`${list} ${line}`).filter({ hasText: `${whole}/a` });
        await expect.poll(() => inside.count()).toBe(0);
        await fold.click();
        await expect.poll(() => inside.count()).toBe(1);
      }
    }
    rmSync(join(runs, 'fair'), { recursive: true });
    await open('#/compare?runs=late|healthy');
    await page.waitForSelector('tr:has(td code:text-is("fault")):has-text("advantage-late")');
    // As the command line prints them.
    const { groups } = compareRuns(await readRuns([join(runs, 'late'), join(runs, 'healthy')]));
    await page.waitForSelector('[data-testid=summary]');
    for (const { games, improvement } of groups) {
      await expect.poll(() => textOf('[data-testid=summary]')).toContain(number(games[0].interquartileMean.estimate));
      if (improvement) await expect.poll(() => textOf('[data-testid=summary]')).toContain(number(improvement.estimate));
    }
    // Twelve can still be read: what is too wide scrolls in its own box.
    for (let i = 0; i < 10; i++)
      cpSync(join(runs, i % 2 ? 'late' : 'healthy'), join(runs, 'gamma', `c${i}`), { recursive: true });
    const twelve = ['late', 'healthy', ...Array.from({ length: 10 }, (_, i) => `gamma/c${i}`)];
    await open(`#/compare?runs=${twelve.join('|')}`);
    await page.waitForSelector('.u-over');
    await expect.poll(() => page.locator('section.scroll').first().locator('th').count()).toBe(13);
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(1280);
    rmSync(join(runs, 'gamma'), { recursive: true });
  });

  it('shows one banner while its server is gone, and goes on when it is back', async () => {
    await open('#/runs?runs=healthy');
    await page.waitForSelector('.u-over');
    const port = Number(new URL(held.server.address).port);
    await held.server.close();
    await page.waitForSelector('[data-testid=gone]');
    expect(await page.locator('[data-testid=gone]').count()).toBe(1);
    held.server = await serveStudio(runs, { interval: 100, port });
    await page.waitForSelector('[data-testid=gone]', { state: 'detached' });
    await expect.poll(() => page.locator('.u-over').count()).toBeGreaterThan(0);
  });

  it('never broke its content security policy, nor threw', () => {
    expect(
      complaints.filter((text) => !/404|422|ERR_CONNECTION|ERR_INCOMPLETE|Failed to load resource/.test(text)),
    ).toEqual([]);
  });
});
