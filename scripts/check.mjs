/** `npm run check`: the quick loop. Types, lint and the unit tests beside the code, but for the slow ones (*.slow.test.ts). */
import { ensureBuilt, ensureInstalled, runTool } from './setup.mjs';
import { runVitest } from './vitest.mjs';

ensureInstalled();
ensureBuilt();
runTool('typescript/bin/tsc', ['-p', 'tsconfig.json']);
runTool('@biomejs/biome/bin/biome', ['check', '.']);
runVitest(['--project', 'unit', '--pool', 'threads', '--exclude', '**/*.slow.test.ts', ...process.argv.slice(2)], {
  TRUELINE_QUICK: '1',
});
