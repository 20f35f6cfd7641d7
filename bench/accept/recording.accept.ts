/** What must hold of recordings, in full: the bench's figures, and a writer killed again and again. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killWriters } from '../kill.ts';
import { bench } from '../recording.bench.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-numpy'];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-accept-'));
  const kills = size === 'full' ? 100 : 4;
  const figures: Figure[] = [];
  try {
    for (const encoding of ['npz', 'parquet', 'jsonl'] as const) {
      say(`killing a writer of ${encoding} ${kills} times ...`);
      const { readable, chunksLost } = await killWriters(folder, encoding, kills);
      figures.push(
        figure(`${encoding}: recordings that open after SIGKILL, of ${kills}`, readable, '', { least: kills }),
        figure(`${encoding}: most chunks lost to a SIGKILL`, chunksLost, '', { most: 1 }),
      );
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return [...figures, ...(size === 'full' ? await bench(say) : await bench(say, 20_000, 0.1, 1))];
}
