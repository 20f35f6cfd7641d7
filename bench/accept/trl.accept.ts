/** What must hold of TRL's real trainers: the recording agrees with what they compute, healthy runs raise no alarm, and bugs put in while they run are named. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { judge, tally } from '../judging.ts';
import { type Figure, figure } from '../support.ts';
import { trlCases, trlCommand, trlPython } from '../tokens/cases.ts';

export const needs = ['python3-venv'];

export async function accept(say: (line: string) => void): Promise<Figure[]> {
  const python = await trlPython();
  if (!python) return [];
  const tests = spawnSync(python, ['-m', 'unittest', 'discover', '-s', 'python/tests', '-p', 'test_trl.py'], {
    encoding: 'utf8',
  });
  const count = Number(/Ran (\d+) tests/.exec(tests.stderr)?.[1] ?? 0);
  const folder = mkdtempSync(join(tmpdir(), 'trueline-trl-'));
  try {
    const judged = await judge(say, trlCommand(python), trlCases(python, folder));
    return [
      figure(
        "tests with TRL's real trainers",
        tests.status === 0 ? count : 0,
        '',
        { least: 4 },
        tests.stderr.slice(-300),
      ),
      ...tally(judged),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
