/** Runs jobs on worker threads of this machine, one job a thread. A stop reaches the workers through shared memory, because a busy worker reads no messages. */
import { availableParallelism } from 'node:os';
import { MessageChannel } from 'node:worker_threads';
import { Piscina } from 'piscina';
import type { JobOutcome, JobProgress, QueuedJob, Runner, RunnerHooks } from './runner.ts';
import type { WorkerTask } from './worker.ts';

export interface ThreadOptions {
  /** How many jobs run at the same time; all cores unless given. */
  threads?: number;
  /** Keeps the threads from list to list, until `close`: a thread does its first job at half the speed of later ones. */
  keep?: boolean;
}

export interface PoolHooks {
  signal?: AbortSignal;
  onProgress?: (progress: JobProgress) => void;
  /** The job goes on when this has ended; the checkpoint stays where it is until the next one. */
  onCheckpoint?: () => Promise<void>;
  /** Threads of the engine. */
  engineThreads?: 1 | 2;
}

/** Worker threads that are kept from job to job, because starting one takes longer than a small job may wait. */
export class JobPool {
  private readonly pool: Piscina;

  constructor(threads: number) {
    this.pool = new Piscina({
      filename: new URL('./worker.js', import.meta.url).href,
      minThreads: threads,
      maxThreads: threads,
      execArgv: [],
    });
  }

  /** Never rejects: a job that fails is an outcome. */
  async run(
    queued: QueuedJob,
    { signal, onProgress, onCheckpoint, engineThreads = 1 }: PoolHooks,
  ): Promise<JobOutcome> {
    const stop = new Int32Array(new SharedArrayBuffer(4));
    const onAbort = () => Atomics.store(stop, 0, 1);
    if (signal?.aborted) onAbort();
    signal?.addEventListener('abort', onAbort);
    const { port1, port2 } = new MessageChannel();
    port1.on('message', async (message: JobProgress | 'checkpoint') => {
      if (message !== 'checkpoint') return onProgress?.(message);
      const error = await onCheckpoint?.().then(
        () => '',
        (problem: Error) => problem.message,
      );
      port1.postMessage(error ?? '');
    });
    try {
      const task: WorkerTask = { ...queued, stop, engineThreads, port: port2, checkpoints: onCheckpoint !== undefined };
      return (await this.pool.run(task, { transferList: [port2] })) as JobOutcome;
    } catch (error) {
      return { id: queued.id, status: 'failed', error: (error as Error).message };
    } finally {
      signal?.removeEventListener('abort', onAbort);
      port1.close();
    }
  }

  async destroy(): Promise<void> {
    await this.pool.destroy();
  }
}

export class ThreadRunner implements Runner {
  readonly threads: number;
  private readonly keep: boolean;
  private kept: JobPool | null = null;

  constructor({ threads = availableParallelism(), keep = false }: ThreadOptions = {}) {
    this.threads = threads;
    this.keep = keep;
  }

  async run(jobs: readonly QueuedJob[], hooks: RunnerHooks = {}): Promise<JobOutcome[]> {
    if (jobs.length === 0) return [];
    const threads = Math.min(this.threads, jobs.length);
    const pool = this.kept ?? new JobPool(this.keep ? this.threads : threads);
    if (this.keep) this.kept = pool;
    // A single job may use two cores itself; more of them share the cores by running side by side.
    const engineThreads = threads === 1 && this.threads > 1 && availableParallelism() > 1 ? 2 : 1;
    try {
      return await Promise.all(
        jobs.map(async (queued) => {
          const outcome = await pool.run(queued, { ...hooks, engineThreads });
          hooks.onOutcome?.(outcome);
          return outcome;
        }),
      );
    } finally {
      if (!this.keep) await pool.destroy();
    }
  }

  async close(): Promise<void> {
    await this.kept?.destroy();
    this.kept = null;
  }
}
