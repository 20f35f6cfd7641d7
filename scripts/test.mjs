/** `npm test`: install, build, types, lint, then every test; in CI nothing is skipped. `npm test -- PATTERN` runs some files. */
import { ensureDebian } from './debian.mjs';
import { ensureNodes } from './nodes.mjs';
import { ensureVenv } from './python.mjs';
import { ensureBuilt, ensureInstalled, runTogether, tool } from './setup.mjs';
import { runVitest } from './vitest.mjs';

ensureInstalled();
ensureBuilt();
const svelte = ['--workspace', 'studio', '--tsconfig', './tsconfig.json', '--output', 'human'];
const checked = runTogether(
  tool('typescript/bin/tsc', '-p', 'tsconfig.json'),
  tool('svelte-check/bin/svelte-check', ...svelte),
  tool('@biomejs/biome/bin/biome', 'check', '.'),
);
// Meanwhile, in turn:
ensureBuilt('studio');
ensureDebian([
  'python3-numpy',
  'python3-torch',
  'python3-pip',
  'python3-venv',
  'python3-setuptools',
  'python3-wheel',
  'chromium',
  'redis-server',
  'openssl',
]);
ensureVenv('lint', 'python/requirements/lint.txt');
ensureVenv('sb3', 'python/requirements/sb3.txt');
ensureNodes();
process.exitCode = (await checked) || (await runVitest(process.argv.slice(2), { TRUELINE_BUILT: '1' }));
