/** Runs rooms' acceptance figures on reduced instances, as `npm run accept -- NAME --reduced` measures them, in the process of the test file. What counts must meet its goal; times and ratios of times are the bench's business. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Figure } from '../../bench/support.ts';
import { root } from './run.ts';

export interface Room {
  name: string;
  holds: string;
  /** At least so many figures; fewer means that something was left out. */
  figures: number;
  /** What the first figure counts, where it is how many programs were judged. */
  judged?: number;
  /** Whether what it needs is there. In CI nothing may be missing. */
  here?: boolean;
}

interface Program {
  accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]>;
}
const { importTypeScript } = (await import(join(root, 'scripts/typescript.mjs'))) as {
  importTypeScript(folder: string, name: string): Promise<Program>;
};
const times = ['x', 'M/s', 'k/s', 'µs', 's'];

export function mustHold(rooms: readonly Room[]): void {
  describe('what must hold, reduced', () => {
    for (const { name, holds, figures: fewest, judged, here = true } of rooms)
      it.skipIf(!here)(`${name}: ${holds}`, async () => {
        const { accept } = await importTypeScript('bench', `accept/${name}.accept`);
        const said: string[] = [];
        const figures = await accept((line) => said.push(line), 'reduced');
        const missed = figures.filter(({ met, unit }) => met === false && !times.includes(unit));
        expect(missed, said.join('\n')).toEqual([]);
        expect(figures.length).toBeGreaterThanOrEqual(fewest);
        if (judged !== undefined) expect(figures[0].value).toBe(judged);
      });
  });
}
