/** Charts under the hand, alone and with sixty runs: boxes, double clicks and axes, strokes and colours, and what is not drawn, asked for or made again. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findChromium } from '../support/browser.ts';
import { drawnTexts, type Look, longRun, record, studioPage, watchTexts } from '../support/studio.ts';

const many = 60;
const readings = Array.from({ length: 14 }, (_, i) => `reading ${i}`);
const manyIds = (count: number) => Array.from({ length: count }, (_, i) => `many/run-${i}`).join('|');

describe.skipIf(!findChromium())('charts', () => {
  const { held, page, complaints, asked, open, graph, looking } = studioPage(async (runs) => {
    await longRun(join(runs, 'long'), 3000);
    const echo = { game: 'echo', gameSettings: { seats: 2 }, steps: 16 * 32 * 2 * 3 };
    for (const seed of [1, 2]) await record(join(runs, `seed-${seed}`), { ...echo, seed });
    for (let i = 0; i < many; i++) await longRun(join(runs, 'many', `run-${i}`), 30, readings);
  });
  const zoom = () => {
    const text = new URLSearchParams(page.url().split('?')[1]).get('zoom');
    return text === null ? undefined : text.split('~').map(Number);
  };
  const strokes = (name: string) =>
    page
      .locator('[data-testid=legend]')
      .first()
      .locator('path')
      .evaluateAll((paths, attribute) => paths.map((path) => path.getAttribute(attribute)), name);

  it.each([
    [1280, 'light', 'en'],
    [768, 'dark', 'zh'],
    [390, 'light', 'zh'],
  ] as const)(
    'at %i, %s, %s zoom by a box, all of them together, keep the moments when the axis changes, and show everything after a double click',
    (...look: Look) =>
      looking(look, async () => {
        await open('#/runs?runs=long');
        await graph(1).waitFor({ state: 'attached' });
        await graph().scrollIntoViewIfNeeded();
        const box = (await graph().boundingBox())!;
        const at = (share: number) => [box.x + share * box.width, box.y + box.height / 2] as const;
        await page.mouse.move(...at(0.25));
        await page.mouse.down();
        await page.mouse.move(...at(0.5), { steps: 4 });
        await page.mouse.up();
        await expect.poll(zoom).toBeDefined();
        const [from, to] = zoom()!;
        expect(from / 3000).toBeCloseTo(0.25, 1);
        expect(to / 3000).toBeCloseTo(0.5, 1);
        // The other chart shows the same stretch: its left edge is where this one's is.
        await graph(1).hover({ position: { x: 2, y: 40 } });
        const place = page.locator('[data-testid=tip] .number').first();
        await expect
          .poll(async () => Number(/[\d.]+$/.exec((await place.textContent()) ?? '')?.[0]))
          .toBeGreaterThan(from - 60);
        expect(Number(/[\d.]+$/.exec((await place.textContent())!)![0])).toBeLessThan(to);
        // A step is 64 decisions: the same moments in other numbers.
        await page.locator('.controls select').first().selectOption('step');
        await expect.poll(() => zoom()?.[0] ?? 0).toBeGreaterThan(10 * from);
        expect(zoom()![0] / (64 * from)).toBeCloseTo(1, 1);
        expect(zoom()![1] / (64 * to)).toBeCloseTo(1, 1);
        await graph(1).dblclick({ position: { x: 50, y: 40 } });
        await expect.poll(zoom).toBeUndefined();
      }),
  );

  it.each([
    [1280, 'dark', 'en'],
    [390, 'light', 'zh'],
  ] as const)('at %i, %s, %s name the band of healthy runs; no tick is cut off or told twice', (...look: Look) =>
    looking(look, async () => {
      await watchTexts(page);
      for (const how of ['', '&axis=step&zoom=64000~64640', '&log=1']) {
        await open(`#/runs?runs=long&curves=k3${how}`);
        await graph().waitFor();
        const texts = async () => (await drawnTexts(page))[0] ?? [];
        await expect.poll(async () => (await texts()).length).toBeGreaterThan(5);
        const band = { en: 'usual', zh: '常见' }[look[2]];
        if (how === '') expect((await texts()).map(({ text }) => text)).toContain(band);
        const ticks = (await texts()).filter(({ text }) => text !== band && text !== '');
        for (const { text, left, right, width } of ticks) expect(left >= 0 && right <= width, text).toBe(true);
        // Ticks of one axis stand in a row or in a column.
        const below = Math.max(...ticks.map(({ y }) => y));
        const axes = [ticks.filter(({ y }) => y === below), ticks.filter(({ y }) => y !== below)];
        for (const own of axes.map((axis) => axis.map(({ text }) => text)))
          expect(own, `${how} ${own}`).toEqual([...new Set(own)]);
      }
    }),
  );

  it('have a colour for each of fifteen runs, and a stroke for each agent', async () => {
    await open('#/runs?runs=seed-1|seed-2&curves=return');
    await expect.poll(async () => (await strokes('stroke')).length).toBe(4);
    const [a, b, c, d] = await strokes('stroke');
    expect([a, c]).toEqual([b, d]);
    expect(a).not.toBe(c);
    const dashes = await strokes('stroke-dasharray');
    expect(dashes.slice(0, 2)).toEqual(dashes.slice(2));
    expect(dashes[0]).not.toBe(dashes[1]);
    await open(`#/runs?runs=${manyIds(15)}&curves=reading+3`);
    await expect.poll(async () => new Set(await strokes('stroke')).size).toBe(15);
  });

  it('of sixty runs are asked for once a run and drawn where somebody looks, and news of a run makes none of them again', async () => {
    await open(`#/runs?runs=${manyIds(many)}`);
    await expect.poll(async () => (await strokes('stroke')).length).toBe(many);
    await page.waitForSelector('main progress', { state: 'detached' });
    const curves = () => asked.filter((url) => url.includes('/api/curves/')).length;
    expect(curves()).toBe(many);
    // Verdicts of so many are not shown, so nobody asks for them.
    expect(asked.filter((url) => url.includes('/api/examined/'))).toEqual([]);
    const charts = await page.locator('.plot').count();
    expect(charts).toBe(readings.length);
    await expect.poll(() => page.locator('.u-over').count()).toBeLessThan(charts);
    await page.locator('.plot').last().scrollIntoViewIfNeeded();
    await page.locator('.plot').last().locator('.u-over').waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    // Charts on the way are drawn as they come near; the last of them is drawn when a look later there are no more.
    let drawn = -1;
    const settled = async () => {
      const before = drawn;
      drawn = await page.locator('.uplot').count();
      return drawn === before;
    };
    await expect.poll(settled, { interval: 500 }).toBe(true);
    await page.evaluate(() => {
      for (const plot of document.querySelectorAll<HTMLElement>('.uplot')) plot.dataset.before = 'yes';
    });
    const response = await page.request.post(`${held.server.address}api/note`, {
      data: { id: 'many/run-7', tags: ['odd'], note: 'told later' },
    });
    expect(response.status()).toBe(201);
    await page.evaluate(async () => {
      const answer = await fetch('api/runs');
      if (!(await answer.text()).includes('told later')) throw new Error('the note was not kept');
    });
    await page.waitForTimeout(1000);
    expect(curves()).toBe(many);
    expect(await page.locator('.uplot:not([data-before])').count()).toBe(0);
  });

  it('leave their place to a table with a row for every run, in which columns are chosen', async () => {
    // The list comes with the page: nobody has to be asked for it.
    await page.route('**/api/**', () => undefined);
    await open('#/runs?table=1');
    const rows = page.locator('[data-testid=run-table] tbody tr');
    await expect.poll(() => rows.count()).toBe(many + 3);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await page.click('summary:has-text("Columns")');
    const seed = page.locator('[data-testid=run-table] th', { hasText: 'seed' });
    await expect.poll(() => seed.count()).toBe(0);
    await page.check('label.tick:has-text("seed") input');
    await expect.poll(() => seed.count()).toBe(1);
    expect(page.url()).toContain('columns=');
  });

  it('of a training come before its form on a narrow screen', async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await open('#/train?game=echo');
    await page.click('button.primary');
    await graph().waitFor();
    await page.evaluate(() => scrollTo(0, 0));
    await expect.poll(async () => (await graph().boundingBox())!.y).toBeLessThan(844);
    await page.click('button:text-is("Stop")');
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it('never threw', () => expect(complaints).toEqual([]));
});
