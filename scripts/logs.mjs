/** `node scripts/logs.mjs`: stores the logs that `npm run accept -- logs` has just written, for the reduced instance that tests read. */
import { join } from 'node:path';
import { root } from './setup.mjs';
import { importTypeScript } from './typescript.mjs';

const { store } = await importTypeScript('bench', 'logs/stored');
store(root, join(root, 'build', 'logs'));
