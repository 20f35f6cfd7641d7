/** Recordings that programs in Python made, kept in build/recordings until what makes them changes: a run of many that was ended goes on where it was, and a reduced instance trains them once. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());

/** A folder of the room's own, named by a sum over the recorder and `sources`; those of earlier sources are removed. */
export function keptFolder(room: string, sources: readonly string[]): string {
  const sum = createHash('sha256');
  const visit = (path: string) => {
    if (!statSync(join(root, path)).isDirectory()) return sum.update(path).update(readFileSync(join(root, path)));
    for (const name of readdirSync(join(root, path)).sort()) if (name !== '__pycache__') visit(`${path}/${name}`);
  };
  for (const path of ['python/trueline_recorder', 'python/requirements', ...sources]) visit(path);
  const home = join(root, 'build', 'recordings', room);
  const own = sum.digest('hex').slice(0, 16);
  mkdirSync(join(home, own), { recursive: true });
  for (const name of readdirSync(home)) if (name !== own) rmSync(join(home, name), { recursive: true, force: true });
  return join(home, own);
}

/** Said only of what was written to its end: a program may be killed at any moment. */
const mark = (out: string) => `${out}.whole`;
export const isKept = (out: string): boolean => existsSync(mark(out));

/** What is not kept is begun anew. */
export const clear = (out: string): void => rmSync(out, { recursive: true, force: true });
/** With what the program said when it was done. */
export const keep = (out: string, line = ''): void => writeFileSync(mark(out), line);
export const keptLine = (out: string): string => readFileSync(mark(out), 'utf8');
