/** Where the program itself lies, for commands that start it again. This file is as deep below the package as the bundle is, so that the way is the same from both. */
import { fileURLToPath } from 'node:url';

export const program = fileURLToPath(new URL('../../bin/trueline', import.meta.url));
