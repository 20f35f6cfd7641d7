/** `npm test`: install, build, types, lint, then every test; in CI nothing is skipped. `npm test -- PATTERN` runs some files. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root, runTogether, tool } from './setup.mjs';
import { transpile } from './typescript.mjs';
import { runVitest } from './vitest.mjs';

const prepared = once(
  spawn(process.execPath, [join(root, 'scripts', 'prepare.mjs')], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  }),
  'close',
);
ensureInstalled();
ensureBuilt();
const svelte = ['--workspace', 'studio', '--tsconfig', './tsconfig.json', '--output', 'human'];
const checked = runTogether(
  tool('typescript/bin/tsc', '-p', 'tsconfig.json'),
  tool('svelte-check/bin/svelte-check', ...svelte),
  tool('@biomejs/biome/bin/biome', 'check', '.'),
);
// Meanwhile, and the tests as soon as there is something to test:
ensureBuilt('studio');
await transpile('bench');
const [status] = await prepared;
const tested = status === 0 ? await runVitest(process.argv.slice(2), { TRUELINE_BUILT: '1' }) : (status ?? 1);
process.exitCode = (await checked) || tested;
