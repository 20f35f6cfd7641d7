/** `npm run new`: one skeleton of each kind is made in a copy of the sources, and its tests are run there. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root, run, temporaryFolder } from '../support/run.ts';

const copy = join(temporaryFolder(), 'copy');

describe('npm run new', () => {
  const make = (...args: string[]) =>
    run(process.execPath, [join(root, 'scripts', 'new.mjs'), ...args], { env: { TRUELINE_ROOT: copy } });

  it('makes a game, a fault, a cause and an algorithm whose tests pass', () => {
    mkdirSync(copy);
    for (const name of ['src', 'test/support', 'test/recordings', 'vitest.config.ts', 'tsconfig.json', 'package.json'])
      cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    for (const [kind, name] of [
      ['game', 'new-game'],
      ['fault', 'new-fault'],
      ['cause', 'symmetry/new-cause'],
      ['algorithm', 'new-rule'],
    ]) {
      const { status, stdout, stderr } = make(kind, name);
      expect(status, stderr).toBe(0);
      expect(stdout).toMatch(/^Made src\//);
    }
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    // The stored recordings are diagnosed where the other unit tests run.
    const tests = ['src/games/new-game', 'src/faults/new-fault', 'src/doctor/causes/causes', 'src/algorithms/new-rule'];
    const tested = run(process.execPath, [vitest, 'run', '--project', 'unit', ...tests], { cwd: copy });
    expect(tested.status, tested.stdout + tested.stderr).toBe(0);
    expect(tested.stdout).toMatch(/Test Files {2}4 passed/);
  });

  it('refuses what is no name, no kind, or there already, in a sentence', () => {
    for (const [args, sentence] of [
      [['dance', 'x'], /^new: npm run new -- game\|fault/],
      [['game', 'Not A Name'], /^new: npm run new -- game\|fault/],
      [['cause', 'no-group'], /^new: a cause has a group/],
      [['game', 'new-game'], /^new: src\/games\/new-game\/game.ts is there already/],
    ] as const) {
      const { status, stderr } = make(...args);
      expect(stderr).toMatch(sentence);
      expect(status).toBe(2);
    }
  });
});
