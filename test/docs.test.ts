import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { generatedPages } from '../src/report/pages/pages.ts';
import { root, run, temporaryFolder } from './support/run.ts';

const pages = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(root, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The commands of a page's sh blocks, in their order. */
function commands(page: string): string[] {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/```sh\n([\s\S]*?)```/g);
  return [...blocks].flatMap((block) => block[1].split('\n')).filter((line) => /^(bin\/)?trueline /.test(line));
}

describe('the documentation', () => {
  it.each(generatedPages())('$path is what its table in the program says', ({ path, text }) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('links only to pages that are there', () => {
    const missing: string[] = [];
    for (const page of pages) {
      for (const [, target] of readFileSync(join(root, page), 'utf8').matchAll(/\]\(([^)#:]+)\)/g)) {
        const path = join(root, page, '..', target);
        const folder = readdirSync(join(path, '..'));
        if (!folder.includes(path.split('/').pop() as string)) missing.push(`${page}: ${target}`);
      }
    }
    expect(missing).toEqual([]);
  });

  const withCommands = pages.filter((page) => commands(page).length > 0);
  it('shows commands on several pages', () => expect(withCommands.length).toBeGreaterThanOrEqual(4));

  it.each(withCommands)('of %s has commands that run as they are written', (page) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'runs'));
    symlinkSync(join(root, 'examples'), join(folder, 'examples'));
    symlinkSync(join(root, 'bin'), join(folder, 'bin'));
    for (const command of commands(page)) {
      const { status, stderr } = run(
        'bash',
        ['-c', command.replace(/^(bin\/)?trueline/, `"${process.execPath}" "${join(root, 'bin/trueline')}"`)],
        { cwd: folder },
      );
      expect(status, `${command}\n${stderr}`).toBe(0);
    }
  });
});
