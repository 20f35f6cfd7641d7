/** `npm run bench -- NAME [PART ...] [--json]`: timings side by side in one run, printed as ratios; a bench that has parts measures those that are named, or all. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDebian } from './debian.mjs';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';
import { importTypeScript } from './typescript.mjs';

ensureInstalled();
ensureBuilt();
const args = process.argv.slice(2);
const [name, ...wanted] = args.filter((arg) => !arg.startsWith('--'));
const names = readdirSync(join(root, 'bench'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.slice(0, -9));
if (!name || !existsSync(join(root, 'bench', `${name}.bench.ts`))) {
  console.error(`npm run bench -- NAME, with NAME one of: ${names.join(', ')}`);
  process.exit(2);
}
if (name === 'studio') ensureBuilt('studio');
const { bench, needs = [], parts = [] } = await importTypeScript('bench', `${name}.bench`);
const unknown = wanted.find((part) => !parts.includes(part));
if (unknown) {
  console.error(
    `${name} has no part ${unknown}; ${parts.length > 0 ? `its parts are ${parts.join(', ')}` : 'it is measured whole'}`,
  );
  process.exit(2);
}
ensureDebian(needs);
const figures = await bench((line) => console.error(line), undefined, ...(wanted.length > 0 ? [wanted] : []));
if (args.includes('--json')) console.log(JSON.stringify({ name, figures }, null, 2));
else {
  const { figureTable } = await importTypeScript('bench', 'support');
  console.log(figureTable(figures));
}
if (figures.some((figure) => figure.met === false)) process.exitCode = 1;
