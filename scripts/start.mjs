/** `npm start` does the main job and, on a terminal, ends by serving the studio on its results; `npm start -- COMMAND ...` passes any command on. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

ensureInstalled();
ensureBuilt();
// The terminal's signals reach the child as well; it decides how to end.
process.on('SIGINT', () => {});
const trueline = (command) =>
  spawnSync(process.execPath, [join(root, 'bin', 'trueline'), ...command], { stdio: 'inherit' }).status ?? 1;
const args = process.argv.slice(2);
let status = trueline(args.length > 0 ? args : ['demo']);
if (args.length === 0 && status === 0 && process.stdin.isTTY && process.stdout.isTTY) {
  console.log('');
  status = trueline(['studio', join('runs', 'demo')]);
}
process.exit(status);
