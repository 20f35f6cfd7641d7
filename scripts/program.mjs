/** Bundles what is installed, the command line and every entry of the library, into dist/program: a command begins by reading a few files in place of five hundred, and an installation brings one copy of what is used of other packages. Those that are optional or start threads of their own stay outside. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'vite';
import { root } from './setup.mjs';
import { writeTypes } from './types.mjs';

const { peerDependencies, dependencies, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(({ types, default: built }) =>
  types ? [{ types: types.slice('./dist/types/'.length), built }] : [],
);
const outside = Object.keys({ ...peerDependencies, ...dependencies });
const at = (path) => join(root, 'dist', path);
// Files that are named by their path beside the one that names them lie as deep in dist/program as where they came from.
const input = {
  main: at('cli/main.js'),
  worker: at('sweep/worker.js'),
  'play-worker': at('symmetry/play-worker.js'),
  reader: at('cli/reading/reader.js'),
  'studio-reader': at('cli/studio/studio-reader.js'),
  ...Object.fromEntries(entries.map(({ types, built }) => [basename(built, '.js'), at(types.replace(/d\.ts$/, 'js'))])),
};

const { output } = await build({
  root,
  configFile: false,
  logLevel: 'error',
  publicDir: false,
  // Its entry for Node loads threads that nobody uses here, and a page cannot.
  resolve: { alias: { fflate: 'fflate/browser' } },
  ssr: { noExternal: true, external: outside },
  build: {
    ssr: true,
    outDir: join(root, 'dist', 'program'),
    emptyOutDir: true,
    minify: false,
    target: 'node20',
    rolldownOptions: {
      input,
      output: {
        entryFileNames: '[name].js',
        chunkFileNames: '[name]-[hash].js',
        // Names of functions stay, so that what a user reports can be read.
        minify: { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } },
      },
    },
  },
});

/** Whose code has gone into the bundle: the names for the list of licences, and the notices that have to travel with it. */
const modules = output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds : []));
const packages = [
  ...new Set(modules.flatMap((id) => /node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*node_modules)/.exec(id)?.[1] ?? [])),
].sort();
/** The text of a licence once, over it the packages that have it, with the lines that name their owners. */
const notices = new Map();
for (const name of packages) {
  const folder = join(root, 'node_modules', name);
  const file = readdirSync(folder).find((path) => /^licen[cs]e/i.test(path));
  const { license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const lines = file ? readFileSync(join(folder, file), 'utf8').trim().split(/\r?\n/) : [];
  const owns = (line) => /^\s*copyright (\(c\)|©|\d)/i.test(line);
  const text = lines
    .filter((line) => !owns(line))
    .join('\n')
    .trim();
  const same = text.replace(/\s+/g, ' ');
  const notice = notices.get(same) ?? { text, of: [] };
  notice.of.push([`${name} (${license})`, ...lines.filter(owns).map((line) => `  ${line.trim()}`)].join('\n'));
  notices.set(same, notice);
}
const written = [...notices.values()].map(({ text, of }) => `${of.join('\n')}\n\n${text}\n`);
writeFileSync(join(root, 'dist/program/packages.json'), `${JSON.stringify(packages)}\n`);
writeFileSync(join(root, 'dist/program/licences.txt'), written.join(`\n${'-'.repeat(80)}\n\n`));
writeTypes(
  entries.map(({ types }) => types),
  outside,
);
