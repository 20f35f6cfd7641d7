/** `npm test`: install, build, types, lint, then every test; in CI nothing is skipped. `npm test -- PATTERN` runs some files. */
import { ensureDebian } from './debian.mjs';
import { ensureVenv } from './python.mjs';
import { ensureBuilt, ensureInstalled, runTool } from './setup.mjs';
import { runVitest } from './vitest.mjs';

ensureInstalled();
ensureBuilt();
ensureBuilt('studio');
runTool('typescript/bin/tsc', ['-p', 'tsconfig.json']);
runTool('svelte-check/bin/svelte-check', [
  '--workspace',
  'studio',
  '--tsconfig',
  './tsconfig.json',
  '--output',
  'human',
]);
runTool('@biomejs/biome/bin/biome', ['check', '.']);
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
runVitest(process.argv.slice(2));
