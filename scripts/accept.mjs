/** `npm run accept [-- NAME ... --reduced --json]`: every acceptance figure, in full unless told, each beside its goal. Ends with status 1 where one is missed. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { ensureDebian } from './debian.mjs';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';
import { importTypeScript } from './typescript.mjs';

ensureInstalled();
ensureBuilt();
const args = process.argv.slice(2);
const chosen = args.filter((arg) => !arg.startsWith('--'));
const size = args.includes('--reduced') ? 'reduced' : 'full';
const json = args.includes('--json');
const programs = readdirSync(join(root, 'bench/accept'))
  .filter((file) => file.endsWith('.accept.ts'))
  .map((file) => file.slice(0, -10))
  .filter((name) => chosen.length === 0 || chosen.includes(name));
if (programs.length === 0) {
  console.error(`nothing is called ${chosen.join(', ')}`);
  process.exit(2);
}
const { figureTable } = await importTypeScript('bench', 'support');
let missed = 0;
const all = {};
for (const name of programs) {
  const { accept, needs = [] } = await importTypeScript('bench', `accept/${name}.accept`);
  ensureDebian(needs);
  const figures = await accept((line) => console.error(`${name}: ${line}`), size);
  all[name] = figures;
  if (!json) console.log(`\n${name}\n${figureTable(figures)}`);
  missed += figures.filter((figure) => figure.met === false).length;
}
if (json) console.log(JSON.stringify(all, null, 2));
else console.log(missed === 0 ? '\nEvery figure meets its goal.' : `\n${missed} figures miss their goals.`);
process.exitCode = missed === 0 ? 0 : 1;
