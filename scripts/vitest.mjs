/** Runs vitest and closes with one plain line of counts. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './setup.mjs';

export function runVitest(args, env = {}) {
  const report = join(root, 'build', 'vitest.json');
  mkdirSync(join(root, 'build'), { recursive: true });
  rmSync(report, { force: true });
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
  const result = spawnSync(
    process.execPath,
    [vitest, 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args],
    { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } },
  );
  let skipped = 0;
  try {
    const counts = JSON.parse(readFileSync(report, 'utf8'));
    skipped = counts.numPendingTests;
    console.log(`${counts.numPassedTests} passed, ${counts.numFailedTests} failed, ${skipped} skipped`);
  } catch {
    console.log('vitest left no report');
  }
  if (result.status === 0 && process.env.CI && skipped > 0) {
    console.error(`In CI no test may be skipped, and ${skipped} were.`);
    process.exit(1);
  }
  process.exit(result.status ?? 1);
}
