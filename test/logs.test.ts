import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Diagnosis } from '../src/doctor/diagnosis.ts';
import { root, temporaryFolder, trueline } from './support/run.ts';

const folder = temporaryFolder();
const stuck = join(root, 'examples/stuck-log');

describe('logs on the command line', () => {
  it('are diagnosed as they are: symptoms, causes that fit, what to record next, and status 3', () => {
    const { status, stdout } = trueline('diagnose', stuck);
    expect(status).toBe(3);
    expect(stdout).toMatch(/losses\/approx_kl +kl +nats/);
    expect(stdout).toMatch(/Causes that fit\n {2}optimizer-unbound/);
    expect(stdout).toContain('What to record next');
    const diagnosis = JSON.parse(trueline('diagnose', stuck, '--json').stdout) as Diagnosis;
    expect(diagnosis).toMatchObject({ format: 'trueline/diagnosis/2', verdict: 'not-enough-evidence' });
    expect(diagnosis.scalars!.symptoms[0].id).toBe('kl-zero');
  });

  it('of a folder with several runs are told one by one, with what could not be read', () => {
    const runs = join(folder, 'runs');
    mkdirSync(runs);
    for (const seed of [1, 2]) {
      const rows = Array.from({ length: 30 }, (_, i) => `${i},IND,${3 * 1.5 ** i},8\n${i},EDU,0.5,0`);
      writeFileSync(join(runs, `seed${seed}.csv`), `update_id,agent,avg_value_loss,adv_mean\n${rows.join('\n')}\n`);
    }
    writeFileSync(join(runs, 'broken.csv'), 'a,b\n');
    const { status, stdout } = trueline('diagnose', runs);
    expect(status).toBe(3);
    expect(stdout).toMatch(/2 of 2 +value-loss-blows-up/);
    expect(stdout).toMatch(/broken\.csv: has a line of column names and no rows/);
    const all = JSON.parse(trueline('diagnose', runs, '--json').stdout);
    expect(all.format).toBe('trueline/diagnoses/2');
    expect(all.runs.map(({ name }: { name: string }) => name)).toEqual(['seed1.csv', 'seed2.csv']);
    expect(trueline('diagnose', runs, '--run', 'seed2.csv').stdout).toMatch(/IND\/avg_value_loss grows from/);
  });

  it('of a healthy run show no symptom', () => {
    const { status, stdout } = trueline('diagnose', join(root, 'examples/healthy-log'));
    expect(status).toBe(3);
    expect(stdout).toContain('this log shows no symptom');
  });

  it('are imported, and the recording says the same as the log', () => {
    const out = join(folder, 'imported');
    expect(trueline('import', stuck, out)).toMatchObject({ status: 0 });
    const [a, b] = [stuck, out].map((path) => JSON.parse(trueline('diagnose', path, '--json').stdout) as Diagnosis);
    expect(b.scalars).toEqual(a.scalars);
    expect(trueline('import', stuck, out)).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/is there already/),
    });
  });

  it('that are cut off give a sentence and what comes before', () => {
    const bytes = readFileSync(join(stuck, 'events.out.tfevents.1700000000.run'));
    const cut = join(folder, 'events.out.tfevents.1');
    writeFileSync(cut, bytes.subarray(0, bytes.length - 1000));
    expect(trueline('diagnose', cut).stdout).toMatch(
      /cut off inside a record at byte \d+; the \d+ records before are kept/,
    );
  });

  it('show their symptoms with curves in the page, too', () => {
    const page = join(folder, 'log.html');
    trueline('diagnose', stuck, '--html', page);
    const html = readFileSync(page, 'utf8');
    expect(html).toMatch(/What the log shows[\s\S]*kl-zero[\s\S]*<svg/);
    expect(html).toMatch(/Ruled out[\s\S]*policy-collapsed/);
  });

  it('of several agents hand over to symmetry with a command that works', () => {
    const rows = (shift: number) =>
      Array.from({ length: 30 }, (_, i) => `${i},${i + shift},${i - shift},0.01,0.5\n`).join('');
    for (const seed of [1, 2]) {
      mkdirSync(join(folder, 'seeds', String(seed)), { recursive: true });
      writeFileSync(
        join(folder, 'seeds', String(seed), 'progress.csv'),
        `step,agent_0/return,agent_1/return,kl,entropy\n${rows(seed)}`,
      );
    }
    const { stdout } = trueline('diagnose', join(folder, 'seeds'));
    const [, command] = /trueline (symmetry \S+)$/m.exec(stdout.replaceAll('\n', ' ').trim()) ?? [];
    expect(stdout).toMatch(/Whether its 2 agents come out unequal/);
    expect([0, 1, 3]).toContain(trueline(...command.split(' ')).status);
  });

  it('that cannot be used give one sentence and status 2', () => {
    const file = join(folder, 'x.csv');
    writeFileSync(file, 'a,b\n1,2\n');
    for (const [args, sentence] of [
      [[join(folder, 'nothing')], /there is no such file or folder/],
      [[file, '--map', 'kl=c'], /the log has no column "c"; it has a, b/],
      [[join(root, 'docs')], /neither a recording \(manifest.json\) nor a log/],
      [[join(root, 'bin/trueline'), '--setting', 'epochs'], /such as epochs=1/],
    ] as const) {
      const { status, stderr } = trueline('diagnose', ...args);
      expect(stderr).toMatch(sentence);
      expect(status).toBe(2);
    }
    expect(trueline('diagnose', file, '--map', 'kl=b').stdout).toMatch(/b +kl +nats +mapped by hand/);
  });
});

describe('policies of a run', () => {
  it('are kept when asked for, and run again by the doctor', () => {
    const out = join(folder, 'run');
    const args = ['--steps', '3000', '--set', 'worlds=16', '--set', 'recording.policies=true', '--evaluate', '0'];
    expect(trueline('train', 'echo', ...args, '--out', out).status).toBe(0);
    expect(existsSync(join(out, 'policies/player_1-0.onnx'))).toBe(true);
    const diagnosis = JSON.parse(trueline('diagnose', out, '--json').stdout) as Diagnosis;
    expect(diagnosis.checks.find(({ id }) => id === 'policy-replay')).toMatchObject({
      status: 'pass',
      measured: { disagreeing: 0 },
    });
  });
});
