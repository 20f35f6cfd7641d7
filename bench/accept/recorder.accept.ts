/** What must hold of the recorder: the examples' faults are named first, healthy runs raise no alarm, and recording is cheap. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptFolder } from '../kept.ts';
import { exampleCases, judge, oddCases } from '../recorder/cases.ts';
import { pythons } from '../recorder/pythons.ts';
import { bench, needs } from '../recorder.bench.ts';
import { type Figure, figure } from '../support.ts';

export { needs };

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const full = size === 'full';
  const folder = full
    ? mkdtempSync(join(tmpdir(), 'trueline-recorder-'))
    : keptFolder('recorder', ['bench/recorder', 'bench/accept/recorder.accept.ts', 'examples/pytorch', 'python/tests']);
  const seeds = full ? [1, 2, 3, 4, 5] : [6];
  try {
    const more = full ? [] : ['--iterations', '5'];
    const judged = await judge(say, [...exampleCases(), ...oddCases], seeds, folder, more, !full);
    const faulty = judged.filter(({ cause }) => cause !== undefined);
    const healthy = judged.filter(({ cause }) => cause === undefined);
    const missed = faulty.filter(({ cause, causes }) => causes[0] !== cause);
    const alarmed = healthy.filter(({ verdict }) => verdict !== 'healthy');
    const tell = (list: typeof judged) =>
      list.map(({ example, what, seed, causes }) => `${example} ${what} ${seed}: ${causes[0] ?? 'nothing'}`).join('; ');
    const invalid = judged.filter(({ problems }) => problems.length > 0);
    return [
      figure(
        `faults named first, of ${faulty.length} runs`,
        faulty.length - missed.length,
        '',
        { least: faulty.length },
        tell(missed),
      ),
      figure(`false alarms in ${healthy.length} healthy runs`, alarmed.length, '', { most: 0 }, tell(alarmed)),
      figure('recordings that do not validate', invalid.length, '', { most: 0 }, invalid[0]?.problems[0]),
      ...(full ? [pythons(say)] : []),
      ...(await (full ? bench(say) : bench(say, 3, 1, 12))),
    ];
  } finally {
    if (full) rmSync(folder, { recursive: true, force: true });
  }
}
