import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkResultSchema } from '../src/cli/check/result.ts';
import { root, run, temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const faulty = join(root, 'test/recordings/advantage-time-shifted/advantage-late.zip');
const here = (cwd: string, ...args: string[]) => run(process.execPath, [join(root, 'bin/trueline'), ...args], { cwd });

describe('trueline check', () => {
  it('answers in at most 25 lines of 80 columns: verdict, proof, what to change, the next command', () => {
    const { status, stdout } = trueline('check', faulty);
    expect(status).toBe(1);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(25);
    expect(lines[0]).toMatch(/^Faulty: advantage-time-shifted/);
    expect(stdout).toMatch(/^proof +residual [\d.e-]+ before, [\d.e-]+ once it is undone; \d+ rows/m);
    expect(stdout).toMatch(/^change +Align advantages/m);
    expect(lines.at(-1)).toBe(`next: trueline diagnose ${faulty} --html report.html`);
    expect(lines.slice(1, -1).every((line) => line.length <= 80)).toBe(true);
  });

  it('gives the verdict, the cause and the status of diagnose, in the form its schema promises', () => {
    for (const path of [faulty, join(root, 'examples/echo'), join(root, 'examples/stuck-log')]) {
      const [short, long] = [trueline('check', path, '--json'), trueline('diagnose', path, '--json')];
      const result = checkResultSchema.parse(JSON.parse(short.stdout));
      const diagnosis = JSON.parse(long.stdout) as { verdict: string; causes: { id: string }[] };
      expect([short.status, result.verdict, result.runs[0].cause]).toEqual([
        long.status,
        diagnosis.verdict,
        diagnosis.causes[0]?.id ?? null,
      ]);
    }
  });

  it('looks through a folder, the worst first, and says what could not be read', () => {
    const many = join(folder, 'many');
    mkdirSync(join(many, 'broken'), { recursive: true });
    writeFileSync(join(many, 'broken/manifest.json'), '{"format": "trueline/1"');
    for (const [name, cause] of [
      ['a', 'healthy/echo-1'],
      ['b', 'advantage-time-shifted/advantage-late'],
    ])
      writeFileSync(join(many, `${name}.zip`), readFileSync(join(root, `test/recordings/${cause}.zip`)));
    // A log beside recordings is the log of one of them, or of a run that was not recorded: it is said and not judged.
    writeFileSync(join(many, 'progress.csv'), 'step,kl\n1,0\n2,0\n');
    writeFileSync(join(many, 'broken/scalars.jsonl'), '{"step": 1, "kl": 0}\n');
    const { status, stdout } = trueline('check', many);
    expect(status).toBe(1);
    expect(stdout).toContain('1 faulty, 1 healthy, 1 not read');
    expect(stdout).toMatch(/^ {2}not judged: 1 log beside \(trueline check /m);
    expect(JSON.parse(trueline('check', many, '--json').stdout).beside).toEqual([join(many, 'progress.csv')]);
    const junit = trueline('check', many, '--junit').stdout;
    expect(junit).toContain('tests="3" failures="1" errors="1"');
    expect(junit).toContain('<failure type="advantage-time-shifted"');
    const markdown = trueline('check', many, '--markdown').stdout;
    expect(markdown).toMatch(/^### Trueline: faulty\n/);
    expect(markdown).toMatch(/```python\nbatch\.sort/);
  });

  it('keeps an accepted cause with its reason in trueline.yaml, and everything else in it', () => {
    const project = join(folder, 'project');
    mkdirSync(project);
    writeFileSync(join(project, 'trueline.yaml'), '# ours\nsettings:\n  note: kept # and this\n');
    const accept = ['--ignore', 'advantage-time-shifted', '--because', 'known since May'];
    const first = here(project, 'check', faulty, ...accept);
    expect([first.status, first.stderr]).toEqual([0, expect.stringContaining('kept as accepted in')]);
    expect(readFileSync(join(project, 'trueline.yaml'), 'utf8')).toBe(
      '# ours\nsettings:\n  note: kept # and this\ndiagnose:\n  ignore:\n    - cause: advantage-time-shifted\n      reason: known since May\n',
    );
    const again = here(project, 'check', faulty);
    expect(again.status).toBe(0);
    expect(again.stdout).toContain('ignored   advantage-time-shifted (known since May)');
    expect(here(project, 'diagnose', faulty).status).toBe(0);
  });

  it('fails only on the verdicts that are named', () => {
    const log = join(root, 'examples/stuck-log');
    expect(trueline('check', log).status).toBe(3);
    expect(trueline('check', log, '--fail-on', 'faulty').status).toBe(0);
    expect(trueline('check', log, '--fail-on', 'not-enough-evidence').status).toBe(1);
    expect(trueline('check', log, '--fail-on', 'bad').status).toBe(2);
  });

  it.each([
    [['nowhere'], /there is no such file or folder/],
    [[faulty, '--because', 'no cause is named'], /--because says why a cause is ignored/],
    [[faulty, '--ignore', 'nothing', '--because', 'x'], /there is no cause "nothing"/],
  ])('refuses bad input in one sentence: %j', (args, sentence) => {
    const { status, stderr } = here(folder, 'check', ...args);
    expect([status, stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(stderr).toMatch(sentence);
  });
});
