/** The studio's bench at a size that a test can afford: it runs to its end and measures something. Times are not judged here. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bench } from '../../bench/studio.bench.ts';
import { findChromium, openBrowser } from '../support/browser.ts';
import { root } from '../support/run.ts';
import { serveStudio } from '../support/studio.ts';

it.skipIf(!findChromium())('scrubs, pans, paints and drops', async () => {
  const sizes = { rows: 20_000, points: 20_000, frames: 20, rounds: 1, iterations: 500, pinned: 6, listed: 8 };
  const figures = await bench(() => undefined, sizes, serveStudio, join(root, 'dist/studio'), openBrowser);
  expect(figures).toHaveLength(16);
  for (const { what, value } of figures) expect(Number.isFinite(value), what).toBe(true);
  expect(figures.find(({ what }) => what.startsWith('first script'))).toMatchObject({ met: true });
});
