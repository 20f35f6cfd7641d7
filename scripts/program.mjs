/** Bundles the command line into dist/program: a command begins by reading a few files in place of five hundred. Packages that are optional, start threads of their own or have a licence of their own stay outside. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';
import { root } from './setup.mjs';

const { peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const outside = [...Object.keys(peerDependencies), 'piscina', 'lib-r-math.js'];
// Files that are named by their path beside the one that names them lie as deep in dist/program as where they came from.
const input = { main: 'cli/main.js', worker: 'sweep/worker.js', 'play-worker': 'symmetry/play-worker.js' };

const { output } = await build({
  root,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  ssr: { noExternal: true, external: outside },
  build: {
    ssr: true,
    outDir: join(root, 'dist', 'program'),
    emptyOutDir: true,
    minify: false,
    target: 'node20',
    rolldownOptions: {
      input: Object.fromEntries(Object.entries(input).map(([name, path]) => [name, join(root, 'dist', path)])),
      output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    },
  },
});

/** Whose code has gone into the bundle, each with its licence. */
const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const packages = new Set(
  modules.flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(id)?.[1] ?? []),
);
const licences = [...packages].sort().map((name) => {
  const folder = join(root, 'node_modules', name);
  const file = existsSync(folder) && readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return `${name} (${license})\n\n${file ? readFileSync(join(folder, file), 'utf8').trim() : ''}\n`;
});
writeFileSync(join(root, 'dist', 'program', 'licences.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`));
