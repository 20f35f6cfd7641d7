/** Runs the list on every machine that works on a queue. What is here waits and gathers; it may be stopped and started again at any time, or run from two folders at once. */
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Queue, type Job as QueueJob } from 'bullmq';
import type { Redis } from 'ioredis';
import { makeFolder, writeWhole } from '../../recording/disk/node.ts';
import { version } from '../../recording/version.ts';
import { canonical } from '../job.ts';
import type { JobOutcome, QueuedJob, Runner, RunnerHooks } from '../runner.ts';
import { readResult } from '../work.ts';
import { connect, type RedisAddress, redisOptions } from './connection.ts';
import {
  attempts,
  backoff,
  checkName,
  filesKey,
  type QueuedData,
  type QueuedProgress,
  queueName,
  sharedFile,
  versionKey,
} from './names.ts';
import { RemoteFolder } from './remote-folder.ts';

export interface RedisRunnerOptions {
  address: RedisAddress;
  queue: string;
  /** Whether the folders of jobs are on a disk that every machine reaches; workers are told under which path. */
  shared: boolean;
  /** Milliseconds between two looks at the queue. */
  interval?: number;
}

type Queued = QueueJob<QueuedData, null>;

/** Jobs that are added, or asked about, at once. */
const batch = 200;

export class RedisRunner implements Runner {
  private readonly name: string;

  constructor(private readonly options: RedisRunnerOptions) {
    this.name = checkName(options.queue);
  }

  async run(jobs: readonly QueuedJob[], hooks: RunnerHooks = {}): Promise<JobOutcome[]> {
    if (jobs.length === 0) return [];
    const redis = await connect(this.options.address);
    const queue = new Queue<QueuedData, null>(queueName(this.name), {
      connection: redisOptions(this.options.address),
    });
    queue.on('error', () => undefined);
    try {
      await redis.set(versionKey(this.name), version);
      if (this.options.shared)
        for (const folder of new Set(jobs.map(({ folder }) => dirname(folder))))
          await writeWhole(join(folder, sharedFile), [new TextEncoder().encode(`${this.name}\n`)]);
      for (let at = 0; at < jobs.length; at += batch) await this.enqueue(queue, redis, jobs.slice(at, at + batch));
      return await this.gather(queue, redis, jobs, hooks);
    } finally {
      await queue.close();
      redis.disconnect();
    }
  }

  /** Adds what is not there. What failed before is tried again: whoever runs the list anew means that. */
  private async enqueue(queue: Queue<QueuedData, null>, redis: Redis, jobs: readonly QueuedJob[]): Promise<void> {
    for (const { id, folder } of jobs) {
      const known = (await queue.getJob(id)) as Queued | undefined;
      const state = known ? await known.getState() : 'unknown';
      if (state === 'failed') await known!.remove();
      // Done once, but neither here nor in Redis any more: it has to be done again.
      else if (state === 'completed' && !(await this.present(redis, id, folder))) await known!.remove();
    }
    await queue.addBulk(
      jobs.map(({ id, job }) => ({
        name: 'train',
        data: { job, ...(this.options.shared ? { shared: true } : {}) },
        opts: { jobId: id, attempts, backoff, removeOnComplete: false, removeOnFail: false },
      })),
    );
  }

  private async present(redis: Redis, id: string, folder: string): Promise<boolean> {
    if ((await readResult(folder))?.id === id) return true;
    return !this.options.shared && (await redis.exists(filesKey(this.name, id))) === 1;
  }

  /** Looks at what has not ended, again and again: that misses nothing, whatever was restarted in between. */
  private async gather(
    queue: Queue<QueuedData, null>,
    redis: Redis,
    jobs: readonly QueuedJob[],
    { signal, onProgress, onOutcome }: RunnerHooks,
  ): Promise<JobOutcome[]> {
    const outcomes = new Map<string, JobOutcome>();
    let waiting = [...jobs];
    let ended = -1;
    let pass = 0;
    while (waiting.length > 0 && !signal?.aborted) {
      const counts = await queue.getJobCounts('completed', 'failed');
      const now = counts.completed + counts.failed;
      // Now and then everything is looked at: a job may be gone without having ended.
      const all = now !== ended || pass++ % 20 === 0;
      const next: QueuedJob[] = [];
      for (const queued of all ? waiting : []) {
        if (signal?.aborted) break;
        const outcome = await this.outcome(queue, redis, queued);
        if (!outcome) {
          next.push(queued);
          continue;
        }
        outcomes.set(queued.id, outcome);
        onOutcome?.(outcome);
      }
      if (all) waiting = next;
      // On a shared disk a result may be seen later than the queue counts it.
      ended = this.options.shared ? -1 : now;
      for (const { id, progress } of (await queue.getJobs(['active'])) as Queued[]) {
        const own = waiting.find((queued) => queued.id === id);
        if (own && typeof progress === 'object') onProgress?.({ id: own.id, ...(progress as QueuedProgress) });
      }
      // An abort ends the wait; the loop's condition sees it.
      if (waiting.length > 0)
        await setTimeout(this.options.interval ?? 500, undefined, { signal }).catch(() => undefined);
    }
    return jobs.map(({ id }) => outcomes.get(id) ?? { id, status: 'stopped' });
  }

  private async outcome(
    queue: Queue<QueuedData, null>,
    redis: Redis,
    { id, job, folder }: QueuedJob,
  ): Promise<JobOutcome | null> {
    // The state first: a job that is read before it fails does not say why it did.
    const state = await queue.getJobState(id);
    const gone = 'the job is gone from the queue; run the list again';
    if (state === 'unknown') return { id, status: 'failed', error: gone };
    if (state === 'failed')
      return { id, status: 'failed', error: ((await queue.getJob(id)) as Queued | undefined)?.failedReason ?? gone };
    if (state !== 'completed') return null;
    if (!this.options.shared) {
      const remote = new RemoteFolder(redis, filesKey(this.name, id));
      await makeFolder(dirname(folder));
      if (await remote.pull(folder)) await remote.remove();
    }
    const result = await readResult(folder);
    // On a shared disk the file may be seen a moment later here than where it was written.
    if (!result) return this.options.shared ? null : { id, status: 'failed', error: 'its result did not come back' };
    if (result.id !== id || canonical(result.job) !== canonical(job))
      return { id, status: 'failed', error: 'what came back is the result of another job; run the list again' };
    return { id, status: 'done', result };
  }
}
