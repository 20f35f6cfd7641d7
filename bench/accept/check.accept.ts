/** What must hold of `trueline check` beside `trueline diagnose`: the same verdict and the same first cause, on faulty and healthy runs of the zoo and of the convention matrix, at little more cost. The two take turns at every run, so that a slow moment of the machine hits both. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { look } from '../../src/cli/check/look.ts';
import { noProject } from '../../src/cli/common/project.ts';
import { examine } from '../../src/cli/diagnose.ts';
import { type Job, makePlan, runSettings } from '../../src/faults/bench/plan.ts';
import { applyFault, faults, findFault } from '../../src/faults/index.ts';
import { openRecording } from '../../src/recording/node.ts';
import { trainInto } from '../../src/training/node.ts';
import { readSettings } from '../../src/training/settings.ts';
import { cleanStages } from '../../src/training/stages.ts';
import { command, faultyCases, healthyCases } from '../conventions/cases.ts';
import { judge } from '../judging.ts';
import { type Figure, figure } from '../support.ts';

export const needs = ['python3-torch', 'python3-numpy'];

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  const folder = mkdtempSync(join(tmpdir(), 'trueline-check-'));
  try {
    const each = size === 'full' ? 50 : 3;
    const faulty = await zoo(say, folder, true, each);
    const healthy = await zoo(say, folder, false, each);
    if (size === 'full') {
      const programs = [...faultyCases(folder, [1]).slice(0, each), ...healthyCases(folder, [1]).slice(0, each)];
      for (const { causes, out } of await judge(say, command(), programs)) (causes ? faulty : healthy).push(out);
    }
    return [
      figure('faulty runs', faulty.length, '', { least: 2 * each - (size === 'full' ? 0 : each) }),
      figure('healthy runs', healthy.length, '', { least: 2 * each - (size === 'full' ? 0 : each) }),
      ...(await compare(say, [...faulty, ...healthy])),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs of our own trainer, spread over the faults, or healthy ones as different as users' are. */
async function zoo(say: (line: string) => void, folder: string, broken: boolean, count: number): Promise<string[]> {
  const plan = makePlan({
    faults: broken ? faults.map(({ id }) => id) : [],
    games: ['echo', 'stag-hunt'],
    heads: ['fixed', 'pointer'],
    reserve: [],
    seeds: 1,
    firstSeed: 6001,
    healthy: broken ? 0 : count,
  });
  const jobs = plan.jobs.filter(
    (_, i) => Math.floor((i * count) / plan.jobs.length) !== Math.floor(((i - 1) * count) / plan.jobs.length),
  );
  const made: string[] = [];
  for (const job of jobs) {
    const out = join(folder, `zoo-${made.length}-${broken ? 'faulty' : 'healthy'}`);
    say(`training ${job.id}`);
    await train(job, out);
    made.push(out);
  }
  return made;
}

async function train(job: Job, out: string): Promise<void> {
  const clean = readSettings({ ...runSettings(job), guard: 'off' });
  const { settings, stages } =
    job.fault === ''
      ? { settings: clean, stages: cleanStages }
      : applyFault(findFault(job.fault), job.seed, cleanStages, clean);
  (await trainInto(out, settings, { stages })).dispose();
}

async function compare(say: (line: string) => void, runs: readonly string[]): Promise<Figure[]> {
  const other: string[] = [];
  const spent = { check: 0, diagnose: 0 };
  const verdicts = new Map<string, number>();
  for (const [i, run] of runs.entries()) {
    const said = { check: '', diagnose: '' };
    const sides = {
      check: async () => {
        const [{ verdict, cause }] = (await look(run, noProject)).runs;
        said.check = `${verdict} ${cause ?? '-'}`;
      },
      // As the command does, with what its report draws.
      diagnose: async () => {
        const { diagnosis } = await examine(await openRecording(run), { only: [] }, noProject);
        said.diagnose = `${diagnosis.verdict} ${diagnosis.causes[0]?.id ?? '-'}`;
      },
    };
    for (const side of i % 2 === 0 ? (['check', 'diagnose'] as const) : (['diagnose', 'check'] as const)) {
      const before = process.cpuUsage();
      await sides[side]();
      const { user, system } = process.cpuUsage(before);
      spent[side] += (user + system) / 1e6;
    }
    if (said.check !== said.diagnose) other.push(`${run}: ${said.check} and ${said.diagnose}`);
    const verdict = said.check.split(' ')[0];
    verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1);
    if ((i + 1) % 20 === 0) say(`${i + 1} of ${runs.length} compared`);
  }
  const note = [...verdicts].map(([verdict, count]) => `${count} ${verdict}`).join(', ');
  return [
    figure('runs where check and diagnose differ', other.length, `of ${runs.length}`, { most: 0 }, other[0] ?? note),
    figure(
      'processor time of check to that of diagnose',
      spent.check / spent.diagnose,
      'x',
      { most: 1.2 },
      `${spent.check.toFixed(1)} and ${spent.diagnose.toFixed(1)} s`,
    ),
  ];
}
