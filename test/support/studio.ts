/** What the studio's tests share: its built server, recordings made on the spot, and what is measured in a page. */
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { applyFault, findFault } from '../../src/faults/index.ts';
import { createRecording } from '../../src/recording/node.ts';
import { trainInto } from '../../src/training/node.ts';
import { readSettings } from '../../src/training/settings.ts';
import { cleanStages } from '../../src/training/stages.ts';
import { openBrowser } from './browser.ts';
import { temporaryFolder } from './run.ts';

export interface Served {
  address: string;
  close(): Promise<void>;
  running(): string[];
}

export const { serveStudio } = (await import(new URL('../../dist/cli/studio.js', import.meta.url).href)) as {
  serveStudio(folder: string, options?: object): Promise<Served>;
};

/** Without the live guard, which takes several times as long as the training and has tests of its own. */
const small = {
  kernel: 'simd' as const,
  worlds: 16,
  rollout: 32,
  network: { hidden: [16] },
  checkpoint: 2,
  guard: 'off' as const,
};
let ticks = 0;

/** A short run, with a fault if one is named. */
export async function record(folder: string, settings: object, fault?: string): Promise<void> {
  const clean = readSettings({ ...small, ...settings });
  const broken = fault ? applyFault(findFault(fault), 1, cleanStages, clean) : undefined;
  const result = await trainInto(folder, broken?.settings ?? clean, {
    ...(broken && fault ? { stages: broken.stages, fault: { name: fault, settings: clean } } : {}),
    clock: () => 1_700_000_000 + ticks++,
  });
  result.dispose();
}

/** A run of many iterations that was written as a trainer does, with one spike that no thinning may lose. */
export async function longRun(
  folder: string,
  iterations: number,
  readings: readonly string[] = ['k3', 'entropy'],
): Promise<void> {
  const writer = await createRecording(folder, { format: 'trueline/1', name: 'long', ended: 'finished' });
  const portion = 200;
  for (let first = 0; first < iterations; first += portion) {
    const count = Math.min(portion, iterations - first);
    const at = Int32Array.from({ length: count }, (_, i) => first + i);
    for (const reading of readings)
      await writer.append('scalars', {
        iteration: at,
        step: Float64Array.from(at, (i) => 64 * i),
        name: Array.from(at, () => reading),
        value: Float64Array.from(at, (i) => (i === 7777 ? 50 : Math.sin(i / 500) + (i % 7) / 10)),
      });
    await writer.flush();
  }
  await writer.merge(writer.position());
  await writer.close();
}

export type Look = readonly [width: number, theme: 'light' | 'dark', language: 'en' | 'zh'];

/** One page for the tests of a file, and, where runs are made for it, a studio of its own that shows them. */
export function studioPage(make?: (runs: string) => Promise<void>) {
  const folder = temporaryFolder();
  const runs = join(folder, 'runs');
  const held = {} as { browser: Browser; page: Page; server: Served };
  /** What the page complained of, and what it asked for. */
  const complaints: string[] = [];
  const asked: string[] = [];
  beforeAll(async () => {
    mkdirSync(runs);
    await make?.(runs);
    if (make) held.server = await serveStudio(runs, { interval: 100 });
    held.browser = await openBrowser();
    const page = await held.browser.newPage({ viewport: { width: 1280, height: 900 } });
    held.page = page;
    // A busy machine is no fault of the page.
    page.setDefaultTimeout(240_000);
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('request', (request) => asked.push(request.url()));
  });
  afterAll(async () => {
    await held.browser?.close();
    await held.server?.close();
  });
  /** Is there before the browser is. */
  const page = new Proxy({} as Page, {
    get: (_, name) => {
      const part: unknown = Reflect.get(held.page, name);
      return typeof part === 'function' ? part.bind(held.page) : part;
    },
  });
  const open = async (hash: string) => {
    await page.goto('about:blank');
    asked.length = 0;
    await page.goto(`${held.server.address}${hash}`);
  };
  return {
    held,
    folder,
    runs,
    page,
    complaints,
    asked,
    open,
    textOf: async (selector: string) => (await page.locator(selector).allInnerTexts()).join('\n'),
    graph: (n = 0) => page.locator('.u-over').nth(n),
    /** In this width, theme and language until the test is over. */
    looking: async ([width, theme, language]: Look, test: () => Promise<void>) => {
      await page.setViewportSize({ width, height: 844 });
      if (!page.url().startsWith(held.server.address)) await open('');
      await page.evaluate((kept) => Object.assign(localStorage, kept), { theme, language });
      try {
        await test();
        await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
      } finally {
        await page.evaluate(() => localStorage.clear());
        await page.setViewportSize({ width: 1280, height: 900 });
      }
    },
    /** What is shown, turned to this width, theme and language by the page's own controls: no view is loaded again for it. */
    turn: async ([width, theme, language]: Look) => {
      await page.setViewportSize({ width, height: 844 });
      if ((await page.evaluate(() => document.documentElement.dataset.theme)) !== theme)
        await page.click('header .tools button[aria-label]');
      await page.selectOption('header .tools select', language);
      await page.waitForFunction(
        (wanted) => `${document.documentElement.dataset.theme} ${document.documentElement.lang}` === wanted,
        `${theme} ${language}`,
      );
    },
    /** Anything that can be dropped, dropped onto whatever is shown. */
    drop: (files: Record<string, string>) =>
      page.evaluate((files) => {
        const transfer = new DataTransfer();
        for (const [name, text] of Object.entries(files)) transfer.items.add(new File([text], name));
        dispatchEvent(new DragEvent('drop', { dataTransfer: transfer, bubbles: true, cancelable: true }));
      }, files),
  };
}

/** Ids of the runs in the browser's own storage. */
export const storedRuns = (page: Page): Promise<unknown[]> =>
  page.evaluate(
    () =>
      new Promise<unknown[]>((resolve) => {
        const base = indexedDB.open('trueline', 1);
        base.onsuccess = () => {
          const keys = base.result.transaction('runs').objectStore('runs').getAllKeys();
          keys.onsuccess = () => {
            base.result.close();
            resolve(keys.result);
          };
        };
      }),
  );

/** Texts of the page that are English sentences, or parts of one. */
export const english = (page: Page): Promise<string[]> =>
  page.locator('main :is(td, th, p, h1, h2, h3, li, small, figcaption, label, button, summary)').evaluateAll((all) =>
    all
      .filter(
        (one) =>
          !one.closest('pre, code, [translate=no], details:not([open])') && (one as HTMLElement).offsetParent !== null,
      )
      .map((one) => {
        const words = one.cloneNode(true) as HTMLElement;
        for (const code of words.querySelectorAll('pre, code, option, [translate=no]')) code.remove();
        return words.textContent!.trim();
      })
      .filter((text) => /[a-z]{3,} [a-z]{2,} [a-z]{2,}/i.test(text)),
  );

export interface DrawnText {
  text: string;
  left: number;
  right: number;
  y: number;
  width: number;
}

/** From now on pages remember the texts of their charts' last drawing; `drawnTexts` hands them out, chart by chart. */
export const watchTexts = (page: Page) =>
  page.addInitScript(() => {
    const drawn = new Map<HTMLCanvasElement, object[]>();
    Object.assign(globalThis, { drawn });
    const { clearRect, fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      drawn.set(this.canvas, []);
      clearRect.apply(this, box);
    };
    CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
      const long = this.measureText(text).width;
      const left = x - long * ({ right: 1, center: 0.5 }[this.textAlign as string] ?? 0);
      drawn.get(this.canvas)?.push({ text, left, right: left + long, y, width: this.canvas.width });
      fillText.call(this, text, x, y);
    };
  });

export const drawnTexts = (page: Page): Promise<DrawnText[][]> =>
  page.evaluate(() =>
    [...(globalThis as unknown as { drawn: Map<HTMLCanvasElement, DrawnText[]> }).drawn]
      .filter(([canvas]) => canvas.isConnected)
      .map(([, texts]) => texts),
  );

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string }[];
}

interface Axe {
  run(options: object): Promise<{ violations: Violation[] }>;
}

/** What axe finds that keeps people from using the page; contrast, its slowest rule, is what `tooFaint` looks at more closely. It is loaded once into a page, and only what is wrong is worked out and handed over. */
export async function serious(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { axe: Axe }).axe.run({
      rules: { 'color-contrast': { enabled: false } },
      resultTypes: ['violations'],
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes[0].html.slice(0, 200)}`);
  });
}

export interface Faint {
  text: string;
  contrast: number;
  colour: string;
}

/** Texts in sight whose contrast with what is behind them is less than WCAG's AA asks for: 4.5, or 3 where they are large. */
export async function tooFaint(page: Page): Promise<Faint[]> {
  return page.evaluate(() => {
    type Colour = [number, number, number, number];
    const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
    // Few colours are seen often: each is looked up once, and so is what lies behind an element.
    const colours = new Map<string, Colour>();
    const grounds = new Map<Element, Colour>();
    const parse = (text: string): Colour => {
      const known = colours.get(text);
      if (known) return known;
      probe.clearRect(0, 0, 1, 1);
      probe.fillStyle = text;
      probe.fillRect(0, 0, 1, 1);
      const [r, g, b, a] = probe.getImageData(0, 0, 1, 1).data;
      const colour: Colour = [r, g, b, a / 255];
      colours.set(text, colour);
      return colour;
    };
    const over = (top: Colour, below: Colour): Colour => [
      top[0] * top[3] + below[0] * (1 - top[3]),
      top[1] * top[3] + below[1] * (1 - top[3]),
      top[2] * top[3] + below[2] * (1 - top[3]),
      1,
    ];
    const ground = (element: Element | null): Colour => {
      if (!element) return [255, 255, 255, 1];
      const known = grounds.get(element);
      if (known) return known;
      const own = parse(getComputedStyle(element).backgroundColor);
      const found = own[3] === 1 ? own : over(own, ground(element.parentElement));
      grounds.set(element, found);
      return found;
    };
    const light = ([r, g, b]: Colour) => {
      const part = (value: number) =>
        value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
      return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
    };
    const found: { text: string; contrast: number; colour: string }[] = [];
    for (const element of document.querySelectorAll('body *')) {
      const words = [...element.childNodes].filter(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
      );
      const style = getComputedStyle(element);
      const box = element.getBoundingClientRect();
      if (words.length === 0 || style.visibility === 'hidden' || box.width < 2 || box.height < 2) continue;
      // What cannot be used need not be read easily.
      if (element.closest(':disabled, option')) continue;
      const behind = ground(element);
      const inPicture = element instanceof SVGElement;
      const colour = inPicture ? style.fill : style.color;
      const shown = over(parse(colour), behind);
      const [a, b] = [light(shown), light(behind)].sort((x, y) => y - x);
      const contrast = (a + 0.05) / (b + 0.05);
      const size = Number.parseFloat(style.fontSize);
      const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (contrast < (large ? 3 : 4.5))
        found.push({ text: words[0].textContent!.trim().slice(0, 40), contrast, colour });
    }
    return found;
  });
}
