import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Diagnosis } from '../src/doctor/diagnosis.ts';
import { root, shortRun, temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const [faulty, healthy] = [join(folder, 'faulty'), join(folder, 'healthy')];

beforeAll(() => {
  for (const [out, fault] of [
    [faulty, ['--fault', 'advantage-late']],
    [healthy, []],
  ] as const) {
    expect(trueline('train', ...shortRun, ...fault, '--out', out).status).toBe(0);
  }
});

describe('trueline diagnose', () => {
  it('names the cause of a faulty run, proves it, says what to change, and ends with status 1', () => {
    const { status, stdout } = trueline('diagnose', faulty);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^Faulty: advantage-time-shifted \(score 0\.9\d*\)/);
    expect(stdout).toMatch(/undone by: .*\n +before █+ [\d.e-]+\n +after/);
    expect(stdout).toContain('What to change:');
  });

  it('is silent on a healthy run, with status 0', () => {
    const { status, stdout } = trueline('diagnose', healthy);
    expect(stdout).toMatch(/^Healthy: \d+ of \d+ checks were made and found nothing wrong \(replay on/);
    expect(status).toBe(0);
  });

  it('prints the contract as JSON', () => {
    const diagnosis = JSON.parse(trueline('diagnose', faulty, '--json').stdout) as Diagnosis;
    expect(diagnosis).toMatchObject({ format: 'trueline/diagnosis/2', verdict: 'faulty' });
    const [cause] = diagnosis.causes;
    expect(cause).toMatchObject({ id: 'advantage-time-shifted', onset: 0 });
    expect(cause.residual_after as number).toBeLessThan((cause.residual_before as number) / 100);
    expect(diagnosis.checks.every((check) => ['pass', 'warn', 'fail', 'not-checked'].includes(check.status))).toBe(
      true,
    );
  });

  it.each(['en', 'zh'])('puts the line that the terminal begins with into its JSON: %s', (language) => {
    for (const path of [faulty, healthy]) {
      const { summary } = JSON.parse(trueline('diagnose', path, '--json', '--language', language).stdout);
      const [first] = trueline('diagnose', path, '--language', language).stdout.split('\n\n');
      expect(summary.length).toBeGreaterThan(20);
      expect(first.replaceAll(/\s/g, '')).toBe(summary.replaceAll(/\s/g, ''));
    }
  });

  it('looks at what was recorded, and not at the fault that the manifest names', () => {
    const path = join(faulty, 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
    expect(manifest.fault).toBe('advantage-late');
    const told = trueline('diagnose', faulty, '--json').stdout;
    for (const fault of [undefined, 'old-logp-zero']) {
      writeFileSync(path, JSON.stringify({ ...manifest, fault }));
      expect(trueline('diagnose', faulty, '--json').stdout).toBe(told);
    }
  });

  it('shows an ignored cause as ignored', () => {
    const { status, stdout } = trueline('diagnose', faulty, '--ignore', 'advantage-time-shifted');
    expect(stdout).toContain('Ignored, as asked: advantage-time-shifted');
    expect(status).toBe(0);
  });

  it.each([
    [['--only', 'nothing'], /there is no check "nothing"; the checks are/],
    [['--agent', 'nobody'], /there is no agent "nobody"/],
    [['--ignore', 'nothing'], /there is no cause "nothing"/],
  ])('refuses what is not there with one sentence: %j', (args, sentence) => {
    const { status, stderr } = trueline('diagnose', healthy, ...args);
    expect(stderr).toMatch(sentence);
    expect(status).toBe(2);
  });

  it('finds nothing in the example that comes with the program', () => {
    expect(trueline('diagnose', join(root, 'examples/echo')).status).toBe(0);
  });
});

describe('trueline explain and zoo list', () => {
  it('tell of every cause and of every fault', () => {
    expect(trueline('explain', 'advantage-time-shifted').stdout).toMatch(
      /# advantage-time-shifted\n[\s\S]*## What to change[\s\S]*```python/,
    );
    expect(trueline('explain').stdout.split('\n').length).toBeGreaterThan(50);
    expect(trueline('explain', 'bad-luck')).toMatchObject({ status: 2 });
    const zoo = JSON.parse(trueline('zoo', 'list', '--json').stdout) as { id: string; cause: string }[];
    expect(zoo.length).toBeGreaterThanOrEqual(60);
    expect(zoo.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['hare-to-lowest-seat', 'imagined-filed-under-first']),
    );
    expect(trueline('train', 'echo', '--fault', 'advantage-lat', '--out', join(folder, 'x')).stderr).toMatch(
      /there is no fault "advantage-lat"; near names are advantage-late/,
    );
  });
});
