/** `trueline --version --verbose`: what a report of a bug needs, and nothing that tells who wrote it. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { causes } from '../doctor/causes.ts';
import { version } from '../recording/version.ts';
import { program } from './program.ts';

export function about(): string {
  const home = resolve(program, '../..');
  const { peerDependencies } = JSON.parse(readFileSync(resolve(home, 'package.json'), 'utf8')) as {
    peerDependencies: Record<string, string>;
  };
  const beside = createRequire(resolve(home, 'package.json'));
  const paths = (name: string) => beside.resolve.paths(name) ?? [];
  const stated = (name: string) => {
    const file = paths(name)
      .map((path) => resolve(path, name, 'package.json'))
      .find(existsSync);
    return file ? `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}` : `${name} not installed`;
  };
  return [
    `trueline ${version}, ${causes.length} causes`,
    `node ${process.version}, v8 ${process.versions.v8}, ${process.platform} ${process.arch}`,
    `${availableParallelism()} processors, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    `optional: ${Object.keys(peerDependencies).map(stated).join(', ')}`,
    '',
  ].join('\n');
}
