/** A file of settings, in JSON or YAML. What reads YAML is loaded only for a file of it. */
import { readFile } from 'node:fs/promises';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { parseJson } from '../../recording/files/json.ts';

export async function readConfig(path: string): Promise<Record<string, unknown>> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new BadInput(error.code === 'ENOENT' ? told('there is no such file', '没有这个文件') : error.message, {
      file: path,
    });
  });
  let data: unknown;
  try {
    data = /\.ya?ml$/.test(path) ? (await import('yaml')).parse(text) : parseJson(text);
  } catch (error) {
    if (error instanceof BadInput) throw error.within({ file: path });
    throw new BadInput(
      told(
        `is not valid ${/\.ya?ml$/.test(path) ? 'YAML' : 'JSON'} (${(error as Error).message.split('\n')[0]})`,
        `不是有效的 ${/\.ya?ml$/.test(path) ? 'YAML' : 'JSON'}（${(error as Error).message.split('\n')[0]}）`,
      ),
      { file: path },
    );
  }
  if (typeof data !== 'object' || data === null || Array.isArray(data))
    throw new BadInput(told('must hold one object of settings', '应含一个设置对象'), { file: path });
  const { $schema: _, ...settings } = data as Record<string, unknown>;
  return settings;
}
