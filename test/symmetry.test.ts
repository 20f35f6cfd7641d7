import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();

describe('trueline symmetry', () => {
  it('names an unfair game, writes one offline page, and does not play again what it has played', () => {
    const out = join(folder, 'unfair');
    const html = join(folder, 'unfair.html');
    const args = [
      'symmetry',
      'stag-hunt',
      '--quick',
      '--fault',
      'seat-paid-more',
      '--out',
      out,
      '--steps',
      '4000',
      '--seeds',
      '4',
    ];
    const run = trueline(...args, '--html', html, '--json');
    expect(run.status, run.stderr).toBe(1);
    const diagnosis = JSON.parse(run.stdout) as { format: string; causes: { id: string }[]; stages: { id: string }[] };
    expect(diagnosis.format).toBe('trueline/diagnosis/2');
    expect(diagnosis.causes[0].id).toBe('environment-seat-bias');
    expect(diagnosis.stages).toHaveLength(8);
    const page = readFileSync(html, 'utf8');
    expect(page).toContain('environment-seat-bias');
    expect(page).toContain('--fault seat-paid-more');
    expect(page).toContain('Return of each agent over training');
    expect(page).not.toMatch(/(src|href)="(?!#)/);
    expect(page).not.toContain('<script');
    const again = trueline(...args);
    expect(again.stdout).toMatch(/Unequal, and here is why/);
    expect(again.stdout).toMatch(/Do equal agents come out unequal\? (open|found)/);
    expect(again.stderr).not.toMatch(/failed/);
  });

  it('takes recordings made elsewhere, and says which stages they do not allow', () => {
    const runs = ['1', '2'].map((seed) => {
      const out = join(folder, `run-${seed}`);
      const set = ['--set', 'worlds=8', '--set', 'rollout=16', '--set', 'gameSettings.seats=2'];
      const run = trueline('train', 'echo', '--seed', seed, '--steps', '2000', '--out', out, '--evaluate', '0', ...set);
      expect(run.status, run.stderr).toBe(0);
      return out;
    });
    const run = trueline('symmetry', ...runs, '--json');
    expect(run.status, run.stderr).toBe(3);
    const { verdict, stages } = JSON.parse(run.stdout) as {
      verdict: string;
      stages: { id: string; status: string; found: string }[];
    };
    expect(verdict).toBe('not-enough-evidence');
    expect(stages.find(({ id }) => id === 'data')?.status).toBe('clear');
    expect(stages.find(({ id }) => id === 'random-play')).toMatchObject({
      status: 'not-run',
      found: expect.stringContaining('the game itself'),
    });
  });

  it.each([
    [['cartpole'], /one seat/],
    [['city'], /different roles/],
    [['nothing-here'], /no game/],
    [['stag-hunt', '--fault', 'nothing'], /no fault/],
  ])('refuses %j in one sentence', (args, message) => {
    const { status, stderr } = trueline('symmetry', ...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
});
