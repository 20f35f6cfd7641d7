/** Runs jobs on worker threads of this machine, one job a thread. A stop reaches the workers through shared memory, because a busy worker reads no messages. */
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { JobOutcome, JobProgress, QueuedJob, Runner, RunnerHooks } from './runner.ts';
import type { WorkerTask } from './worker.ts';

export interface ThreadOptions {
  /** How many jobs run at the same time; all cores unless given. */
  threads?: number;
}

export class ThreadRunner implements Runner {
  readonly threads: number;

  constructor({ threads = availableParallelism() }: ThreadOptions = {}) {
    this.threads = threads;
  }

  async run(jobs: readonly QueuedJob[], hooks: RunnerHooks = {}): Promise<JobOutcome[]> {
    if (jobs.length === 0) return [];
    const threads = Math.min(this.threads, jobs.length);
    const pool = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      execArgv: [],
    });
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = () => Atomics.store(stop, 0, 1);
    if (hooks.signal?.aborted) onAbort();
    hooks.signal?.addEventListener('abort', onAbort);
    // A single job may use two cores itself; more of them share the cores by running side by side.
    const engineThreads = threads === 1 && this.threads > 1 && availableParallelism() > 1 ? 2 : 1;
    try {
      return await Promise.all(
        jobs.map(async (queued) => {
          const outcome = await this.runOne(pool, { ...queued, stop, engineThreads }, hooks);
          hooks.onOutcome?.(outcome);
          return outcome;
        }),
      );
    } finally {
      hooks.signal?.removeEventListener('abort', onAbort);
      await pool.destroy();
    }
  }

  private async runOne(
    pool: Piscina,
    task: Omit<WorkerTask, 'port'>,
    { onProgress }: RunnerHooks,
  ): Promise<JobOutcome> {
    const { port1, port2 } = new MessageChannel();
    port1.on('message', (progress: JobProgress) => onProgress?.(progress));
    try {
      return (await pool.run({ ...task, port: port2 }, { transferList: [port2] })) as JobOutcome;
    } catch (error) {
      return { id: task.id, status: 'failed', error: (error as Error).message };
    } finally {
      port1.close();
    }
  }
}
