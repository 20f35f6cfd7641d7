/** `npm run check`: the quick loop. Types, lint and the unit tests beside the code, but for the slow ones (*.slow.test.ts). Only the kernels are built: unit tests run the sources. */
import { availableParallelism } from 'node:os';
import { ensureInstalled, runTogether, tool } from './setup.mjs';
import { runVitest } from './vitest.mjs';

ensureInstalled();
await import('./kernels.mjs');
// Nothing here waits: more workers than processors would only load more modules.
const workers = `--maxWorkers=${Math.max(2, availableParallelism() - 1)}`;
const quick = [workers, '--project', 'unit', '--exclude', '**/*.slow.test.ts', ...process.argv.slice(2)];
const statuses = await Promise.all([
  runTogether(tool('typescript/bin/tsc', '-p', 'tsconfig.json'), tool('@biomejs/biome/bin/biome', 'check', '.')),
  runVitest(quick, { TRUELINE_QUICK: '1' }),
]);
process.exitCode = Math.max(...statuses);
