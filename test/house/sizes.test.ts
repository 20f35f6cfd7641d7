/** A file that a reader can hold in mind, and a folder whose list fits on a screen. */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../support/run.ts';

const mostFiles = 20;
const mostLines = 350;
/** Recordings are data, and fixtures are what other programs wrote. */
const apart = new Set(['__pycache__', 'fixtures', 'recordings']);

const folders: { path: string; files: string[] }[] = [];
const visit = (folder: string) => {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !apart.has(name));
  const files = entries.filter((entry) => entry.isFile() && !entry.name.includes('.generated.'));
  folders.push({ path: relative(root, folder), files: files.map(({ name }) => name) });
  for (const entry of entries) if (entry.isDirectory()) visit(join(folder, entry.name));
};
for (const folder of ['src', 'bench', 'test', 'studio/src', 'python']) visit(join(root, folder));

describe('the house', () => {
  it(`has no folder of more than ${mostFiles} files`, () => {
    const full = folders.filter(({ files }) => files.length > mostFiles);
    expect(full.map(({ path, files }) => `${path}: ${files.length}`)).toEqual([]);
  });

  it(`has no source file of more than ${mostLines} lines`, () => {
    const sources = folders.flatMap(({ path, files }) =>
      files.filter((name) => /\.(ts|py|svelte|mjs|css)$/.test(name)).map((name) => join(path, name)),
    );
    expect(sources.length).toBeGreaterThan(500);
    const lines = (path: string) => readFileSync(join(root, path), 'utf8').split('\n').length - 1;
    expect(sources.filter((path) => lines(path) > mostLines).map((path) => `${path}: ${lines(path)}`)).toEqual([]);
  });
});
