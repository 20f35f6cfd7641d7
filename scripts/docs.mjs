/** `node scripts/docs.mjs`: writes the parts of docs/ that are made from tables in the program. `--check` only says whether they are up to date. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

ensureInstalled();
ensureBuilt();
const { generatedPages } = await import('../dist/report/pages/pages.js');
let stale = 0;
for (const { path, text } of generatedPages()) {
  const file = join(root, path);
  let old = '';
  try {
    old = readFileSync(file, 'utf8');
  } catch {
    // A page that is not there yet is stale.
  }
  if (old === text) continue;
  stale++;
  if (process.argv.includes('--check')) console.error(`${path} is not up to date: node scripts/docs.mjs writes it`);
  else {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
}
if (process.argv.includes('--check') && stale > 0) process.exitCode = 1;
