import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { generatedPages } from '../src/report/pages/pages.ts';
import { type Result, root, run, temporaryFolder } from './support/run.ts';
import { startWarm } from './support/warm/process.ts';

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

/** Whether a shell would only split it into words. */
const isPlain = (command: string) => !/[|&;<>$`]|\s#/.test(command.replace(/'[^']*'|"[^"]*"/g, ''));

/** In a process of its own, by a shell. */
function inShell(command: string, cwd: string): Result {
  const program = `"${process.execPath}" "${join(root, 'bin/trueline')}"`;
  return run('bash', ['-c', command.replace(/^(bin\/)?trueline/, program)], { cwd });
}

const warm = startWarm();
afterAll(() => warm.end());

/** In a process that has the program loaded already; the shell splits the words. */
function inProcess(command: string, cwd: string) {
  const words = command.replace(/^(bin\/)?trueline/, "printf '%s\\0'");
  return warm.run(cwd, run('bash', ['-c', words]).stdout.split('\0').slice(0, -1));
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

  it.each(withCommands)('of %s has commands that run as they are written', async (page) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'runs'));
    symlinkSync(join(root, 'examples'), join(folder, 'examples'));
    symlinkSync(join(root, 'bin'), join(folder, 'bin'));
    // The first page's commands have a process each; those of the others share one where a shell would add nothing.
    for (const command of commands(page)) {
      const apart = page === 'README.md' || !isPlain(command);
      const { status, stderr } = await (apart ? inShell : inProcess)(command, folder);
      expect(status, `${command}\n${stderr}`).toBe(0);
    }
  });
});
