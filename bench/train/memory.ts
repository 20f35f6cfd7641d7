/** What a long training run keeps in memory, looked at twice after a full collection of garbage. Runs in a process of its own, so that its memory is its own. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { trainInto } from '../../src/training/node.ts';
import { output } from '../support.ts';

interface Seen {
  resident: number;
  heap: number;
  /** Array buffers with the kernels' memory. */
  arrays: number;
}

/** In the child: trains with guard and recording as they are by default. */
async function watchMemory(early: number, late: number): Promise<Seen[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-memory-'));
  const seen: Seen[] = [];
  const collectGarbage = (globalThis as { gc?: () => void }).gc!;
  const worlds = 16;
  const rollout = 16;
  try {
    const settings = { game: 'echo', worlds, rollout, steps: worlds * rollout * late };
    const result = await trainInto(join(folder, 'run'), settings, {
      onIteration: ({ iteration }) => {
        if (iteration + 1 !== early && iteration + 1 !== late) return;
        collectGarbage();
        collectGarbage();
        const { rss, heapUsed, external, arrayBuffers } = process.memoryUsage();
        seen.push({ resident: rss, heap: heapUsed, arrays: Math.max(external, arrayBuffers) });
      },
    });
    result.dispose();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return seen;
}

/** Growth from the early look to the late one, in MiB. */
export function memoryGrowth(early: number, late: number): { resident: number; held: number; atEnd: number } {
  const program = fileURLToPath(import.meta.url);
  const [first, last]: Seen[] = JSON.parse(
    output(process.execPath, ['--expose-gc', program, String(early), String(late)]),
  );
  const mebi = 2 ** 20;
  return {
    resident: (last.resident - first.resident) / mebi,
    held: (last.heap + last.arrays - first.heap - first.arrays) / mebi,
    atEnd: last.resident / mebi,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [early, late] = process.argv.slice(2).map(Number);
  console.log(JSON.stringify(await watchMemory(early, late)));
}
