/** Runs the reduced instance of a room's acceptance figures, as `npm run accept -- NAME --reduced` does. */
import { join } from 'node:path';
import { expect } from 'vitest';
import type { Figure } from '../../bench/support.ts';
import { root, run } from './run.ts';

/** All figures; those that count or measure must meet their goals, times and ratios of times are the bench's business. */
export function acceptReduced(name: string): Figure[] {
  const { stdout, stderr } = run(process.execPath, [join(root, 'scripts', 'accept.mjs'), name, '--reduced', '--json']);
  expect(stdout, stderr).not.toBe('');
  const figures = (JSON.parse(stdout) as Record<string, Figure[]>)[name];
  expect(
    figures.filter((figure) => figure.met === false && !['x', 'M/s', 'k/s', 'µs', 's'].includes(figure.unit)),
  ).toEqual([]);
  return figures;
}
