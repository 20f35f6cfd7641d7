import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findPython, root, run, temporaryFolder } from './support/run.ts';

const folder = temporaryFolder();
const python = findPython('torch', 'numpy');
const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
const [github, gitlab] = [...page.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text));

describe('the workflows of docs/ci.md', () => {
  it('are YAML, and call the script that the example brings', () => {
    const steps = github.jobs.training.steps as { run?: string }[];
    const [script] = steps.flatMap((step) => step.run?.match(/^examples\/ci\/check\.sh runs\/ci python .*/) ?? []);
    expect(script).toBeDefined();
    expect(gitlab.training.script).toContain(script);
    expect(gitlab.training.artifacts.reports.junit).toBe('trueline.xml');
  });

  it.skipIf(!python).each([
    ['passes a healthy run', [], 0, /^### Trueline: healthy/],
    ['fails a faulty one', ['--fault', 'shuffled'], 1, /^### Trueline: faulty\n[\s\S]*advantage-shuffled/],
  ])('the script of the step %s', (_, fault, status, summary) => {
    const runs = join(folder, fault.join('-') || 'healthy');
    const train = [python as string, join(root, 'examples/pytorch/ppo.py'), '--iterations', '4', '--seed', '3'];
    const command = [join(root, 'examples/ci/check.sh'), runs, ...train, '--out', runs, ...fault];
    const result = run('sh', command, {
      cwd: folder,
      env: { TRUELINE: join(root, 'bin/trueline'), GITHUB_STEP_SUMMARY: join(runs, '..', `summary-${status}`) },
    });
    expect(result.status, result.stderr).toBe(status);
    expect(readFileSync(join(folder, `summary-${status}`), 'utf8')).toMatch(summary);
    expect(readFileSync(join(folder, 'trueline.xml'), 'utf8')).toContain(`failures="${status}"`);
    if (status === 0) return;
    // Whoever can only run commands and read files finds the place to change: the minibatch whose advantages follow another order.
    const [, file, line] = /near +(\S+):(\d+) \(replays\)/.exec(result.stdout) ?? [];
    expect(readFileSync(file, 'utf8').split('\n')[Number(line) - 1]).toContain('recorder.replays(');
    expect(result.stdout).toMatch(/change +Draw one permutation per epoch and index every column with it/);
  });
});
