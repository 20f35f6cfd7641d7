/** Runs vitest and closes with one plain line of counts. Gives the status to end with. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

export async function runVitest(args, env = {}) {
  const report = join(root, 'build', 'vitest.json');
  mkdirSync(join(root, 'build'), { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const child = spawn(
    process.execPath,
    [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } },
  );
  const [status] = await once(child, 'close');
  let skipped = 0;
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    skipped = counts.numPendingTests;
    console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${skipped} skipped`);
  } catch {
    console.log('vitest left no report');
  }
  if (status === 0 && process.env.CI && skipped > 0) {
    console.error(`In CI no test may be skipped, and ${skipped} were.`);
    return 1;
  }
  return status ?? 1;
}
