/** Builds dist/: the WASM kernels first (their bytes become a module), then the TypeScript sources, the native engine where a C compiler is there, the bundled program and the recorder's single file, then the studio's page. `core` or `studio` builds only that part. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runTool } from './setup.mjs';

const part = process.argv[2];
if (part !== 'studio') await buildCore();
if (part !== 'core') runTool('vite/bin/vite.js', ['build', '--config', 'studio/vite.config.ts', '--logLevel', 'error']);

async function buildCore() {
  // package.json is where the version is stated; a page and the recorder cannot read it, so that it is written where they find it.
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  state('src/recording/version.ts', /(?<=version = ')[^']*/, version);
  state('python/trueline_recorder/core.py', /(?<=^__version__ = ")[^"]*/m, version);

  const kernels = join(root, 'scripts', 'kernels.mjs');
  if (existsSync(kernels)) await import(kernels);

  // tsc never deletes: an output whose source is gone would still be packed.
  const dist = join(root, 'dist');
  if (existsSync(dist)) {
    for (const name of readdirSync(dist, { recursive: true })) {
      if (/^(studio|program|types)[/\\]/.test(name)) continue;
      const source = name.replace(/(\.d)?\.[jt]s$/, '.ts');
      if (source !== name && !existsSync(join(root, 'src', source))) rmSync(join(dist, name));
    }
  }
  // Types are checked by `npm run check` and `npm test`; checking them here as well would take as long as all the rest.
  runTool('typescript/bin/tsc', ['-p', 'tsconfig.build.json', '--noCheck']);
  await import('./native.mjs');
  await import('./program.mjs');
  await import('./recorder.mjs');
  (await import('./licences.mjs')).writeLicences();
}

function state(path, pattern, version) {
  const file = join(root, path);
  const before = readFileSync(file, 'utf8');
  const after = before.replace(pattern, version);
  if (after !== before) writeFileSync(file, after);
}
