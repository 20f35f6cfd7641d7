/** Builds dist/: the WASM kernels first (their bytes become a module), then the TypeScript sources and the recorder's single file, then, unless told `core`, the studio's page. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, runTool } from './setup.mjs';

// package.json is where the version is stated; a page cannot read it, so that it is written where the sources find it.
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const versionFile = join(root, 'src', 'recording', 'version.ts');
const stated = readFileSync(versionFile, 'utf8');
const current = stated.replace(/'[^']*';/, `'${version}';`);
if (current !== stated) writeFileSync(versionFile, current);

const kernels = join(root, 'scripts', 'kernels.mjs');
if (existsSync(kernels)) await import(kernels);

// tsc never deletes: an output whose source is gone would still be packed.
const dist = join(root, 'dist');
if (existsSync(dist)) {
  for (const name of readdirSync(dist, { recursive: true })) {
    if (/^studio[/\\]/.test(name)) continue;
    const source = name.replace(/(\.d)?\.[jt]s$/, '.ts');
    if (source !== name && !existsSync(join(root, 'src', source))) rmSync(join(dist, name));
  }
}
runTool('typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
await import('./recorder.mjs');
if (process.argv[2] !== 'core')
  runTool('vite/bin/vite.js', ['build', '--config', 'studio/vite.config.ts', '--logLevel', 'error']);
