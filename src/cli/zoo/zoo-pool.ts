/** Runs the jobs of a bench. A finished run is in the folder before it counts, and is read from there the next time. */

import { readdir, readFile, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outcome } from '../../faults/bench/outcome.ts';
import { type Job, runSettings } from '../../faults/bench/plan.ts';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { scratchFolder } from '../../recording/disk/node.ts';
import { removeRun, writeWhole } from '../../recording/node.ts';
import { jobId, makeJob } from '../../sweep/job.ts';
import type { JobOutcome, Runner } from '../../sweep/runner.ts';

export interface PoolOptions {
  /** Where outcomes are kept; without it they are not. */
  folder?: string;
  runner: Runner;
  signal?: AbortSignal;
  progress?: (done: number, all: number) => void;
}

/** The outcomes in the order of the jobs; null where the signal ended it first. */
export async function runJobs(jobs: readonly Job[], options: PoolOptions): Promise<Outcome[] | null> {
  const { folder, runner, signal, progress } = options;
  const done = folder ? await finished(folder) : new Map<string, Outcome>();
  const open = jobs.filter((job) => !done.has(job.id));
  // Beside the outcomes, because machines that share a disk share that folder.
  const scratch = folder ? join(folder, 'runs') : await scratchFolder('zoo');
  const queued = open.map((bench) => {
    const job = makeJob(runSettings(bench), bench.seed, { bench });
    const id = jobId(job);
    return { id, job, folder: join(scratch, id) };
  });
  let ended = 0;
  let kept = Promise.resolve();
  const take = ({ result }: JobOutcome) => {
    const outcome = result?.bench;
    if (!outcome) return;
    done.set(outcome.job.id, outcome);
    if (folder) kept = kept.then(() => keep(folder, outcome));
    // Time left is told from the runs of this time alone.
    progress?.(++ended, open.length);
  };
  try {
    const outcomes = await runner.run(queued, { ...(signal ? { signal } : {}), onOutcome: take });
    await kept;
    const failed = outcomes.findIndex(({ status }) => status === 'failed');
    if (failed >= 0) throw new Error(`${open[failed].id}: ${outcomes[failed].error}`);
    return outcomes.some(({ status }) => status === 'stopped') ? null : jobs.map((job) => done.get(job.id)!);
  } finally {
    for (const own of queued) await removeRun(own.folder);
    await rmdir(scratch).catch(() => undefined);
  }
}

const fileOf = (id: string) => `${id.replaceAll('/', ' ')}.json`;

async function keep(folder: string, outcome: Outcome): Promise<void> {
  await writeWhole(join(folder, fileOf(outcome.job.id)), [Buffer.from(`${JSON.stringify(outcome)}\n`)]);
}

async function finished(folder: string): Promise<Map<string, Outcome>> {
  const found = new Map<string, Outcome>();
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [] as string[];
    throw error;
  });
  for (const name of names.filter((name) => name.endsWith('.json'))) {
    const file = join(folder, name);
    try {
      const outcome = JSON.parse(await readFile(file, 'utf8')) as Outcome;
      if (fileOf(outcome.job.id) === name) found.set(outcome.job.id, outcome);
    } catch (error) {
      throw new BadInput(
        told(
          `is no outcome of a bench (${(error as Error).message}); give another folder, or remove it`,
          `不是基准的结果（${(error as Error).message}）；请换一个文件夹，或删除它`,
        ),
        {
          file,
        },
      );
    }
  }
  return found;
}
