/** `npm start` does the main job; `npm start -- COMMAND ...` passes any command on. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { ensureBuilt, ensureInstalled, root } from './setup.mjs';

ensureInstalled();
ensureBuilt();
const args = process.argv.slice(2);
const command = args.length > 0 ? args : ['demo'];
// The terminal's signals reach the child as well; it decides how to end.
process.on('SIGINT', () => {});
const result = spawnSync(process.execPath, [join(root, 'bin', 'trueline'), ...command], { stdio: 'inherit' });
process.exit(result.status ?? 1);
