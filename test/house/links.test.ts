/** Pages travel in the package, so they may link only to what travels with them; pictures stay behind, and their words say what they show. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
/** npm packs these whatever `files` says. */
const always = ['README.md', 'LICENSE', 'package.json'];
const isPacked = (path: string) =>
  !files.includes(`!${path}`) && [...files, ...always].some((entry) => path === entry || path.startsWith(`${entry}/`));

it('packed pages link to files that exist and are packed', () => {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => join('docs', path))
    .filter(isPacked);
  expect(pages.length).toBeGreaterThan(60);
  const dangling = pages.flatMap((page) =>
    Array.from(readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#\s]+)[^)]*\)/g), ([, target]) => target)
      .filter((target) => !/^[a-z]+:/.test(target))
      .map((target) => relative(root, resolve(root, dirname(page), target)))
      .filter((path) => !existsSync(join(root, path)) || !(isPacked(path) || /\.(svg|png|jpg)$/.test(path)))
      .map((path) => `${page}: ${path}`),
  );
  expect(dangling).toEqual([]);
});
