/** Runs the jobs of a bench on threads. A finished run is in the folder before it counts, and is read from there the next time. */
import { readdir, readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Outcome } from '../faults/bench/outcome.ts';
import type { Job } from '../faults/bench/plan.ts';
import { BadInput } from '../recording/bad-input.ts';
import { writeWhole } from '../recording/node.ts';

export interface PoolOptions {
  /** Where outcomes are kept; without it they are not. */
  folder?: string;
  threads?: number;
  progress?: (done: number, all: number) => void;
}

export async function runJobs(jobs: readonly Job[], options: PoolOptions = {}): Promise<Outcome[]> {
  const done = options.folder ? await finished(options.folder) : new Map<string, Outcome>();
  const open = jobs.filter((job) => !done.has(job.id));
  const told = { begun: jobs.length - open.length };
  let next = 0;
  const take = async (outcome: Outcome) => {
    if (options.folder) await keep(options.folder, outcome);
    done.set(outcome.job.id, outcome);
    // Time left is told from the runs of this time alone.
    options.progress?.(++told.begun - (jobs.length - open.length), open.length);
  };
  const threads = Math.max(1, Math.min(options.threads ?? availableParallelism(), open.length));
  await Promise.all(
    Array.from({ length: open.length > 0 ? threads : 0 }, () => work(() => open[next++] ?? null, take)),
  );
  return jobs.map((job) => done.get(job.id)!);
}

/** One thread, until there is nothing left to take. */
function work(next: () => Job | null, take: (outcome: Outcome) => Promise<void>): Promise<void> {
  const worker = new Worker(new URL('./zoo-worker.js', import.meta.url));
  return new Promise<void>((resolve, reject) => {
    const give = () => worker.postMessage(next());
    worker.on('message', ({ outcome, error }: { outcome?: Outcome; error?: string }) => {
      if (outcome) take(outcome).then(give, reject);
      else reject(new Error(error));
    });
    worker.on('error', reject);
    worker.on('exit', () => resolve());
    give();
  }).finally(() => worker.terminate());
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
      throw new BadInput(`is no outcome of a bench (${(error as Error).message}); give another folder, or remove it`, {
        file,
      });
    }
  }
  return found;
}
