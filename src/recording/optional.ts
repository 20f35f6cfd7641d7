/** Packages that only some commands need, and that are not installed with the program: one sentence says which is missing, what for, and how to get it. */
import { told } from '../language/language.ts';
import { BadInput } from './bad-input.ts';

/**
 * Loads a module that needs packages which may not be installed.
 *
 *     const { Queue } = await needing('bullmq ioredis', 'a queue in Redis', () => import('./queue.ts'));
 */
export async function needing<T>(packages: string, what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    if (!isMissing(error, packages.split(' '))) throw error;
    const names = packages.replaceAll(' ', told(' and ', ' 和 '));
    throw new BadInput(
      told(
        `${what} needs ${names}, not installed yet; install with: npm install ${packages}`,
        `${what}需要 ${names}，尚未安装；请执行：npm install ${packages}`,
      ),
    );
  }
}

/** Node names the package that it did not find; anything else that fails to load is a fault of the program. */
function isMissing(error: unknown, packages: readonly string[]): boolean {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') return false;
  return packages.some((name) => message.includes(`'${name}'`) || message.includes(`'${name}/`));
}
