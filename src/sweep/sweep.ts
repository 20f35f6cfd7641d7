/** Runs a list of jobs into one folder, each under its id. What is finished there is never repeated, so calling it again goes on where it stopped. */

import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { told } from '../language/language.ts';
import { BadInput } from '../recording/bad-input.ts';
import { claimFolder } from '../recording/claim/node.ts';
import { removeFile, writeWhole } from '../recording/disk/node.ts';
import { type Job, jobId } from './job.ts';
import type { JobOutcome, JobProgress, QueuedJob, Runner } from './runner.ts';
import { type JobResult, readResult } from './work.ts';

export interface SweepJob {
  /** What is said of the job to people: the settings that set it apart. */
  label: string;
  job: Job;
}

/** The list of a folder, kept as `sweep.json`. */
export interface SweepList {
  format: 'trueline/sweep/1';
  name: string;
  jobs: (SweepJob & { id: string })[];
}

export interface SweepProgress {
  done: number;
  failed: number;
  all: number;
  /** Of the whole list; NaN until a job has begun. */
  secondsLeft: number;
  /** The jobs under way. */
  running: (JobProgress & { label: string })[];
}

export interface SweepOptions {
  name?: string;
  runner: Runner;
  signal?: AbortSignal;
  onProgress?: (progress: SweepProgress) => void;
  onOutcome?: (outcome: JobOutcome, label: string) => void;
}

export interface SweepOutcome {
  folder: string;
  /** In the order of the list; each id once. */
  jobs: (SweepJob & JobOutcome & { folder: string })[];
  /** How many were there already. */
  before: number;
  stopped: boolean;
}

const listFile = 'sweep.json';
const failureFile = 'failure.json';

export async function runSweep(
  jobs: readonly SweepJob[],
  folder: string,
  options: SweepOptions,
): Promise<SweepOutcome> {
  const unique = new Map<string, SweepJob>();
  for (const entry of jobs) unique.set(jobId(entry.job), entry);
  await requireSweep(folder);
  const claim = await claimFolder(folder);
  try {
    return await runList(unique, folder, options);
  } finally {
    await claim.release();
  }
}

async function runList(
  unique: ReadonlyMap<string, SweepJob>,
  folder: string,
  options: SweepOptions,
): Promise<SweepOutcome> {
  await keepList(folder, options.name ?? 'sweep', unique);
  const outcomes = new Map<string, JobOutcome>();
  const waiting: QueuedJob[] = [];
  for (const [id, { job }] of unique) {
    const result = await readResult(join(folder, id));
    if (result?.id === id) outcomes.set(id, { id, status: 'done', result });
    else {
      // It is tried again: whoever trains refuses a folder that holds what is no run's.
      await forgetFailure(join(folder, id));
      waiting.push({ id, job, folder: join(folder, id) });
    }
  }
  const before = outcomes.size;
  const clock = new SweepClock(unique, outcomes);
  const tell = () => options.onProgress?.(clock.progress());
  tell();
  const ended = await options.runner.run(waiting, {
    ...(options.signal ? { signal: options.signal } : {}),
    onProgress: (progress) => {
      clock.advance(progress);
      tell();
    },
    onOutcome: (outcome) => {
      clock.end(outcome);
      tell();
      options.onOutcome?.(outcome, unique.get(outcome.id)?.label ?? outcome.id);
    },
  });
  for (const outcome of ended) {
    outcomes.set(outcome.id, outcome);
    if (outcome.status === 'failed')
      await writeJson(join(folder, outcome.id, failureFile), { id: outcome.id, error: outcome.error });
  }
  const list = [...unique].map(([id, entry]) => ({
    ...entry,
    ...(outcomes.get(id) ?? { id, status: 'stopped' as const }),
    folder: join(folder, id),
  }));
  return { folder, jobs: list, before, stopped: list.some(({ status }) => status === 'stopped') };
}

async function forgetFailure(folder: string): Promise<void> {
  const file = join(folder, failureFile);
  if (existsSync(file)) await removeFile(file);
}

async function writeJson(file: string, data: unknown): Promise<void> {
  await writeWhole(file, [new TextEncoder().encode(`${JSON.stringify(data, null, 1)}\n`)]);
}

/** A sweep is written only into a folder that is new, empty or another sweep's. */
async function requireSweep(folder: string): Promise<void> {
  const present = await readdir(folder).catch(() => [] as string[]);
  const others = present.filter((name) => !name.startsWith('.'));
  if (others.includes(listFile)) await readList(folder);
  else if (others.length > 0)
    throw new BadInput(
      told(
        `is not empty, and what it holds (${others[0]}) is no sweep; give another folder`,
        `不是空的，而其中的 ${others[0]} 不是扫描；请换一个文件夹`,
      ),
      {
        file: folder,
      },
    );
}

/** Adds to the list that is there, so that a folder may grow by further sweeps. */
async function keepList(folder: string, name: string, jobs: ReadonlyMap<string, SweepJob>): Promise<void> {
  const before = existsSync(join(folder, listFile)) ? await readList(folder) : null;
  const merged = new Map((before?.jobs ?? []).map((entry) => [entry.id, entry]));
  for (const [id, entry] of jobs) merged.set(id, { id, ...entry });
  const list: SweepList = { format: 'trueline/sweep/1', name: before?.name ?? name, jobs: [...merged.values()] };
  await writeJson(join(folder, listFile), list);
}

export async function readList(folder: string): Promise<SweepList> {
  const file = join(folder, listFile);
  const text = await readFile(file, 'utf8').catch(() => {
    throw new BadInput(
      told(
        'is no sweep: it holds no sweep.json; trueline sweep FILE --out FOLDER makes one',
        '不是扫描：没有 sweep.json；trueline sweep FILE --out FOLDER 会生成',
      ),
      {
        file: folder,
      },
    );
  });
  try {
    const list = JSON.parse(text) as SweepList;
    if (list.format === 'trueline/sweep/1') return list;
  } catch {
    // Said below, in the same words.
  }
  throw new BadInput(
    told(
      'is no list of a sweep, or a damaged one; give another folder, or move the file away: finished runs are kept',
      '不是扫描的列表，或已损坏；请换一个文件夹，或把该文件移走：已完成的训练会保留',
    ),
    { file },
  );
}

export interface StatusEntry extends SweepJob {
  id: string;
  folder: string;
  /** `begun` is under way or was stopped; nobody but its runner knows which. */
  status: 'done' | 'failed' | 'begun' | 'waiting';
  result?: JobResult;
  error?: string;
}

/** What is there of a sweep, from its folder alone. */
export async function sweepStatus(folder: string): Promise<{ list: SweepList; jobs: StatusEntry[] }> {
  const list = await readList(folder);
  const jobs: StatusEntry[] = [];
  for (const entry of list.jobs) {
    const own = join(folder, entry.id);
    const result = await readResult(own);
    const present: string[] = await readdir(own).catch(() => []);
    if (result) jobs.push({ ...entry, folder: own, status: 'done', result });
    else if (present.includes(failureFile)) {
      const { error } = JSON.parse(await readFile(join(own, failureFile), 'utf8')) as { error: string };
      jobs.push({ ...entry, folder: own, status: 'failed', error });
    } else jobs.push({ ...entry, folder: own, status: present.length > 0 ? 'begun' : 'waiting' });
  }
  return { list, jobs };
}

/** Time left of the whole list, from the steps taken since the sweep began. */
class SweepClock {
  private readonly begun = performance.now();
  private readonly running = new Map<string, JobProgress>();
  private readonly first = new Map<string, number>();
  private taken = 0;
  private left = 0;

  constructor(
    private readonly jobs: ReadonlyMap<string, SweepJob>,
    private readonly outcomes: Map<string, JobOutcome>,
  ) {
    for (const [id, { job }] of jobs) if (!outcomes.has(id)) this.left += job.settings.steps;
  }

  advance(progress: JobProgress): void {
    const { id, steps } = progress;
    const last = this.running.get(id)?.steps ?? 0;
    // A job that is gone on with brings steps that took no time now.
    if (!this.first.has(id)) this.first.set(id, steps);
    else this.taken += steps - last;
    this.left -= steps - last;
    this.running.set(id, progress);
  }

  end(outcome: JobOutcome): void {
    const { id } = outcome;
    const steps = this.jobs.get(id)?.job.settings.steps ?? 0;
    const last = this.running.get(id)?.steps ?? 0;
    if (outcome.status === 'done') this.taken += steps - last;
    this.left -= steps - last;
    this.running.delete(id);
    this.outcomes.set(id, outcome);
  }

  progress(): SweepProgress {
    const seconds = (performance.now() - this.begun) / 1000;
    const count = (status: string) => [...this.outcomes.values()].filter((outcome) => outcome.status === status).length;
    return {
      done: count('done'),
      failed: count('failed'),
      all: this.jobs.size,
      secondsLeft: this.taken > 0 ? (seconds / this.taken) * this.left : Number.NaN,
      running: [...this.running.values()].map((entry) => ({
        ...entry,
        label: this.jobs.get(entry.id)?.label ?? entry.id,
      })),
    };
  }
}
