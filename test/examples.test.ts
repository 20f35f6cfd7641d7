/** Every example has a page of its own, and what it says there is so. The PyTorch ones, the page and the script for CI have tests beside what they show. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { findPython, root, run, temporaryFolder, trueline } from './support/run.ts';

const python = findPython('torch', 'numpy');

describe('examples', () => {
  it('of programs have a page each', () => {
    const programs = readdirSync(join(root, 'examples')).filter((name) =>
      ['ci', 'game', 'page', 'pytorch'].includes(name),
    );
    expect(programs).toHaveLength(4);
    for (const name of programs) expect(existsSync(join(root, 'examples', name, 'README.md')), name).toBe(true);
  });

  it('train a game of your own in 60 lines', () => {
    const source = readFileSync(join(root, 'examples/game/meet.ts'), 'utf8');
    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(60);
    const built = run(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', 'examples/game']);
    expect(built, built.stdout).toMatchObject({ status: 0 });
    const out = join(temporaryFolder(), 'meet');
    const trained = run(process.execPath, ['build/meet/meet.js', out]);
    expect(trained, trained.stderr).toMatchObject({ status: 0 });
    const means = Array.from(trained.stdout.matchAll(/^agent \d: (.*)$/gm), ([, mean]) => Number(mean));
    expect(means).toHaveLength(2);
    for (const mean of means) expect(mean).toBeGreaterThan(0.9);
    expect(trueline('diagnose', out).stdout).toMatch(/^Healthy/);
  });

  it.skipIf(!python)('train a small language model with GRPO, which the doctor reads', () => {
    const out = join(temporaryFolder(), 'grpo');
    const small = ['--task', 'sort', '--iterations', '3', '--prompts', '8', '--size', '32', '--warm-up', '20'];
    const trained = run(python as string, ['examples/pytorch/grpo.py', '--out', out, ...small]);
    expect(trained, trained.stderr).toMatchObject({ status: 0 });
    const [checked] = JSON.parse(trueline('check', out, '--json').stdout).runs;
    expect(checked.verdict).toBe('healthy');
  });
});
