import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { root, temporaryFolder, trueline } from '../support/run.ts';

const folder = temporaryFolder();
const file = join(folder, 'sweep.json');
const base = {
  game: 'echo',
  gameSettings: { seats: 2, length: 4 },
  steps: 4 * 8 * 2 * 40,
  worlds: 4,
  rollout: 8,
  kernel: 'simd',
  network: { hidden: [8] },
  recording: { record: 'off' },
};
writeFileSync(file, JSON.stringify({ base, vary: { 'ppo.gamma': [0.5, 0.9] }, seeds: 2 }));

interface Listed {
  jobs: { id: string; status: string; error?: string; folder: string }[];
}

describe('trueline sweep', () => {
  it('runs on threads, tells its status, and its results open in compare', () => {
    const out = join(folder, 'whole');
    const run = trueline('sweep', file, '--out', out, '--threads', '2', '--json');
    expect(run.status, run.stderr).toBe(0);
    expect((JSON.parse(run.stdout) as Listed).jobs.map(({ status }) => status)).toEqual(Array(4).fill('done'));
    expect(trueline('sweep', file, '--out', out, '--status').stdout).toMatch(/4 done, 0 failed, 0 begun, 0 waiting/);
    expect(trueline('sweep', file, '--out', out).stdout).toMatch(/4 of 4 runs are done, 4 of them before/);
    const svg = join(folder, 'curves.svg');
    const html = join(folder, 'page.html');
    const compared = trueline('compare', out, '--svg', svg, '--html', html);
    expect(compared.status, compared.stderr).toBe(0);
    expect(compared.stdout).toMatch(/ppo\.gamma=0\.9/);
    expect(readFileSync(svg, 'utf8')).toMatch(/^<svg/);
    expect(readFileSync(html, 'utf8')).not.toMatch(/(src|href)="http/);
    const { groups } = JSON.parse(trueline('compare', out, '--json').stdout) as { groups: { runs: unknown[] }[] };
    expect(groups.map(({ runs }) => runs.length)).toEqual([2, 2]);
  });

  it('goes on after it was killed, and gives what it would have given', async () => {
    const out = join(folder, 'killed');
    const child = spawn(process.execPath, [join(root, 'bin/trueline'), 'sweep', file, '--out', out, '--threads', '1']);
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const begun = () =>
      existsSync(out) && readdirSync(out, { recursive: true }).some((name) => String(name).endsWith('.checkpoint'));
    while (!begun() && child.exitCode === null) await wait(20);
    child.kill('SIGKILL');
    await ended;
    const run = trueline('sweep', file, '--out', out, '--json');
    expect(run.status, run.stderr).toBe(0);
    const whole = join(folder, 'whole');
    for (const { id } of (JSON.parse(run.stdout) as Listed).jobs) {
      const [a, b] = [whole, out].map((place) => {
        const { seconds: _, ...rest } = JSON.parse(readFileSync(join(place, id, 'result.json'), 'utf8'));
        return rest;
      });
      expect(b).toEqual(a);
    }
    const score = (place: string) =>
      (
        JSON.parse(trueline('compare', place, '--json').stdout) as { groups: { runs: { score: number }[] }[] }
      ).groups.map(({ runs }) => runs.map(({ score }) => score));
    expect(score(out)).toEqual(score(whole));
  });

  it('saves and ends when it is interrupted, and says how to go on', async () => {
    const out = join(folder, 'interrupted');
    const long = join(folder, 'long.json');
    writeFileSync(long, JSON.stringify({ base: { ...base, steps: 10_000_000 } }));
    const child = spawn(process.execPath, [join(root, 'bin/trueline'), 'sweep', long, '--out', out]);
    let said = '';
    child.stdout.on('data', (data) => {
      said += data;
    });
    const ended = new Promise((resolve) => child.once('exit', resolve));
    const begun = () =>
      existsSync(out) && readdirSync(out, { recursive: true }).some((name) => String(name).endsWith('.checkpoint'));
    while (!begun() && child.exitCode === null) await wait(20);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(said).toMatch(/It was stopped\. Go on with: trueline sweep/);
    expect(trueline('sweep', long, '--out', out, '--status').stdout).toMatch(/1 begun/);
  });

  it('reports a run that fails and exits with 1; a bad file is one sentence and 2', () => {
    const bad = join(folder, 'bad.json');
    writeFileSync(
      bad,
      JSON.stringify({
        base,
        vary: {
          players: [
            ['learn', 'learn'],
            ['learn', 'nobody'],
          ],
        },
      }),
    );
    const run = trueline('sweep', bad, '--out', join(folder, 'bad'), '--json');
    expect(run.status).toBe(1);
    const { jobs } = JSON.parse(run.stdout) as Listed;
    expect(jobs.map(({ status }) => status)).toEqual(['done', 'failed']);
    expect(jobs[1].error).toMatch(/nobody/);
    writeFileSync(bad, JSON.stringify({ base, vary: { game: ['nothing'] } }));
    const refused = trueline('sweep', bad, '--out', join(folder, 'refused'));
    expect([refused.status, refused.stderr.trim().split('\n').length]).toEqual([2, 1]);
    expect(trueline('compare', folder).status).toBe(2);
  });
});
