import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '../src/faults/bench/outcome.ts';
import type { Score } from '../src/faults/bench/score.ts';
import { temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const out = join(folder, 'outcomes');
const chosen = ['--seeds', '1', '--games', 'echo', '--heads', 'fixed', '--healthy', '2'];
const bench = (...args: string[]) =>
  trueline('zoo', 'bench', ...chosen, '--faults', 'advantage-late,old-logp-zero', '--out', out, ...args);

describe('trueline zoo bench', () => {
  it('trains faults and healthy runs, diagnoses them and shows what was named', () => {
    const page = join(folder, 'zoo.md');
    const { status, stdout } = bench('--page', page);
    expect(stdout).toMatch(/advantage-late +advantage-time-shifted +2 +2/);
    expect(stdout).toMatch(/2 healthy runs: healthy 2, false alarms 0/);
    expect(status).toBe(0);
    expect(readFileSync(page, 'utf8')).toMatch(
      /trueline zoo bench --seeds 1[\s\S]*\| old-logp-zero \| \[old-logp-wrong\]/,
    );
  });

  it('goes on where it was left: a run whose outcome is kept is not repeated', () => {
    const names = readdirSync(out);
    expect(names.every((name) => name.endsWith('.json'))).toBe(true);
    const [gone, ...rest] = names;
    const times = rest.map((name) => statSync(join(out, name)).mtimeMs);
    const before = JSON.parse(readFileSync(join(out, gone), 'utf8')) as Outcome;
    rmSync(join(out, gone));
    const { score } = JSON.parse(bench('--json').stdout) as { score: Score };
    expect(score.healthy.runs + score.runs + score.noEffect).toBe(names.length);
    expect(rest.map((name) => statSync(join(out, name)).mtimeMs)).toEqual(times);
    // Same seed, same bits: the repeated run has the same outcome.
    const after = JSON.parse(readFileSync(join(out, gone), 'utf8')) as Outcome;
    expect({ ...after, seconds: 0 }).toEqual({ ...before, seconds: 0 });
  });

  it.each([
    [['--games', 'chess'], /chess/],
    [['--heads', 'third'], /there is no head "third"; the heads are fixed and pointer/],
    [['--faults', 'advantage-latte'], /near names are advantage-late/],
    [['--games', 'echo', '--faults', 'truncation-as-termination', '--seeds', '0', '--healthy', '0'], /no run is left/],
  ])('refuses what is not there with one sentence: %j', (args, sentence) => {
    const { status, stderr } = trueline('zoo', 'bench', ...args);
    expect(stderr).toMatch(sentence);
    expect(status).toBe(2);
  });

  it('refuses a folder that holds something else', () => {
    writeFileSync(join(folder, 'other.json'), 'no outcome');
    const { status, stderr } = trueline('zoo', 'bench', ...chosen, '--out', folder);
    expect(stderr).toMatch(/other\.json: is no outcome of a bench/);
    expect(status).toBe(2);
  });
});
