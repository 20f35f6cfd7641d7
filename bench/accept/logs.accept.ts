/** What must hold of logs by other programs' own loggers: none of a healthy run accuses it, and of faults that a log can show the right cause is among the first two. In full the logs are written anew; reduced, those that are stored are read. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { diagnose } from '../../src/doctor/diagnose.ts';
import type { Diagnosis } from '../../src/doctor/diagnosis.ts';
import { findFault } from '../../src/faults/index.ts';
import { createEngine } from '../../src/net/engine.ts';
import { BadInput } from '../../src/recording/bad-input.ts';
import { openRecordingOrLog } from '../../src/recording/importers/node.ts';
import { type LogCase, logCases, programOf, runs, updates } from '../logs/cases.ts';
import { figuresOf } from '../logs/figures.ts';
import { unpackStored } from '../logs/stored.ts';
import { type Figure, figure } from '../support.ts';

const root = resolve(process.env.npm_package_json ? join(process.env.npm_package_json, '..') : process.cwd());
const made = join(root, 'build', 'logs');
const stored = join(root, 'build', 'logs-stored');

export async function accept(say: (line: string) => void, size: 'full' | 'reduced'): Promise<Figure[]> {
  if (size === 'full') await writeLogs(say);
  else unpackStored(root, stored);
  return judge(say, size === 'full' ? made : stored);
}

interface Judged {
  of: LogCase;
  diagnosis: Diagnosis | null;
  why: string;
}

async function judge(say: (line: string) => void, folder: string): Promise<Figure[]> {
  const judged: Judged[] = [];
  for (const of of logCases) {
    try {
      const { recording } = await openRecordingOrLog(join(folder, of.name), {});
      judged.push({ of, diagnosis: await diagnose(recording), why: '' });
    } catch (error) {
      if (!(error instanceof BadInput)) throw error;
      judged.push({ of, diagnosis: null, why: error.message });
    }
  }
  const unread = judged.filter(({ diagnosis }) => diagnosis === null);
  for (const { of, why } of unread) say(`not read: ${of.name}: ${why}`);
  const read = judged.flatMap(({ of, diagnosis }) => (diagnosis ? [{ of, diagnosis }] : []));
  const strange = read.filter(({ diagnosis }) => diagnosis.scalars!.not_understood.length > 0);
  for (const { of, diagnosis } of strange)
    say(`not understood: ${of.name}: ${diagnosis.scalars!.not_understood.map(({ name }) => name).join(', ')}`);
  const accused = read.filter(
    ({ of, diagnosis }) => !of.fault && (diagnosis.causes.length > 0 || diagnosis.scalars!.symptoms.length > 0),
  );
  for (const { of, diagnosis } of accused)
    say(`accused: ${of.name}: ${diagnosis.scalars!.symptoms.map(({ summary }) => summary).join('; ')}`);
  const shown = read.filter(({ of }) => of.fault && of.shows);
  const named = shown.filter(({ of, diagnosis }) => {
    const cause = findFault(of.fault!).cause;
    const right = diagnosis.causes.slice(0, 2).some(({ id }) => id === cause);
    if (!right)
      say(`not among the first two: ${of.name} (${cause}): ${diagnosis.causes.map(({ id }) => id).join(', ') || '-'}`);
    return right;
  });
  const excluded = read.filter(
    ({ of, diagnosis }) => of.fault && diagnosis.scalars!.ruled_out.some(({ id }) => id === findFault(of.fault!).cause),
  );
  for (const { of } of excluded) say(`ruled out though it is so: ${of.name}`);
  const claims = read.filter(({ diagnosis }) => diagnosis.verdict !== 'not-enough-evidence');
  const faulty = judged.filter(({ of }) => of.fault).length;
  return [
    figure('logs', judged.length, '', { least: 40 }, `${faulty} of faulty runs`),
    figure('programs whose own logger wrote them', new Set(logCases.flatMap(programOf)).size, '', { least: 12 }),
    figure('logs that were not read', unread.length, '', { most: 0 }),
    figure(`healthy logs that are accused, of ${judged.length - faulty}`, accused.length, '', { most: 0 }),
    figure(
      'share of faults that the log shows whose cause is among the first two',
      Number((named.length / shown.length).toFixed(3)),
      '',
      { least: 0.9 },
      `${named.length} of ${shown.length}`,
    ),
    figure(`faulty logs whose cause is ruled out, of ${faulty}`, excluded.length, '', { most: 0 }),
    figure('verdicts beyond what a log can carry', claims.length, '', { most: 0 }),
  ];
}

async function writeLogs(say: (line: string) => void): Promise<void> {
  const { ensureVenv } = (await import(join(root, 'scripts', 'python.mjs'))) as {
    ensureVenv: (name: string, requirements: string) => string | undefined;
  };
  const python = ensureVenv('logs', 'python/requirements/logs.txt');
  if (!python) throw new BadInput('the packages of python/requirements/logs.txt could not be installed');
  rmSync(made, { recursive: true, force: true });
  const figures = join(made, 'figures');
  mkdirSync(figures, { recursive: true });
  const engine = await createEngine({ kernel: 'simd', threads: 1 });
  const files = new Map<string, string>();
  try {
    for (const { run, seed, fault } of logCases) {
      const key = `${run}-${seed}-${fault ?? 'healthy'}`;
      if (files.has(key)) continue;
      say(`training ${key}`);
      const file = join(figures, `${key}.json`);
      files.set(key, file);
      writeFileSync(file, JSON.stringify(await figuresOf(engine, { ...runs[run], seed }, updates, fault)));
    }
  } finally {
    engine.dispose();
  }
  say('writing with the loggers of other programs ...');
  const jobs = logCases.map(({ name, writer, run, seed, fault }) => ({
    writer,
    figures: files.get(`${run}-${seed}-${fault ?? 'healthy'}`),
    out: join(made, name),
  }));
  const { stdout, stderr, status } = spawnSync(python, [join(root, 'bench', 'logs', 'write.py')], {
    input: JSON.stringify(jobs),
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  const last = stdout.trim().split('\n').pop() ?? '';
  if (status !== 0 || !last.startsWith('[')) throw new Error(`the loggers failed: ${stderr.slice(-2000)}`);
  (JSON.parse(last) as (string | null)[]).forEach((problem, i) => {
    if (problem !== null) throw new Error(`${jobs[i].writer}: ${problem}`);
  });
}
