/** What must hold whatever is killed and whenever: programs struck at every call that changes the disk, and gone on with to the same bits. KILLS=train,resume takes some of them, KILLS_MOST=60 so many strikes of each. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endHelpers } from '../kills/programs.ts';
import { strike } from '../kills/strikes.ts';
import { targets } from '../kills/targets.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-numpy', 'redis-server'];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'trueline-kills-'));
  const figures: Figure[] = [];
  const most = Number(process.env.KILLS_MOST ?? (size === 'full' ? Number.POSITIVE_INFINITY : 2));
  const chosen = process.env.KILLS?.split(',');
  try {
    for (const target of targets.filter(({ name }) => chosen?.includes(name) ?? true)) {
      const { strikes, broken } = await strike(target, scratch, most, say);
      const what = `${target.name}: strikes after which something is lost, left over or another, of ${strikes}`;
      figures.push(figure(what, broken.length, '', { most: 0 }));
    }
  } finally {
    endHelpers();
    rmSync(scratch, { recursive: true, force: true });
  }
  return figures;
}
