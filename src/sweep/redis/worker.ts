/** Works on a queue: takes a job, trains it on a thread, keeps its checkpoints where another machine can go on from them, and says how far it is. */

import { readFile, realpath, rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { DelayedError, type Job as QueueJob, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { told } from '../../language/language.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { scratchFolder } from '../../recording/disk/node.ts';
import { version } from '../../recording/version.ts';
import type { JobProgress } from '../runner.ts';
import { JobPool } from '../threads.ts';
import { connect, type RedisAddress, redisOptions } from './connection.ts';
import { readEntry } from './entry.ts';
import {
  checkName,
  filesKey,
  machinesKey,
  mostStalls,
  type QueuedData,
  type QueuedProgress,
  queueName,
  sharedFile,
  versionKey,
} from './names.ts';
import { RemoteFolder } from './remote-folder.ts';

export interface QueueWorkerOptions {
  address: RedisAddress;
  queue: string;
  /** How many jobs at the same time. */
  threads: number;
  /** The folder of the runs on a disk that all machines share; jobs that go there are refused without it. */
  shared?: string;
  /** Milliseconds for which a job belongs to a worker that is not heard of. */
  lease?: number;
  /** Hears of every job as it begins and ends. */
  onNews?: (sentence: string) => void;
}

export interface Machine {
  name: string;
  threads: number;
  /** Ids of the jobs under way. */
  jobs: string[];
  done: number;
  /** When it was last heard of, in milliseconds since 1970. */
  beat: number;
}

/** How long a job rests that Redis had no memory for, in milliseconds. */
const outOfMemory = 10_000;
/** How often a machine is heard of, and how long it is believed in, in milliseconds. */
const heartbeat = 2000;
export const believed = 15_000;

export class QueueWorker {
  readonly machine: Machine;
  private readonly pool: JobPool;
  private readonly worker: Worker<QueuedData, null>;
  private readonly halt = new AbortController();
  private readonly timer: NodeJS.Timeout;

  private constructor(
    private readonly redis: Redis,
    private readonly options: QueueWorkerOptions,
    private readonly name: string,
  ) {
    const { threads, address, lease = 30_000 } = options;
    this.machine = { name: `${hostname()}-${process.pid}`, threads, jobs: [], done: 0, beat: Date.now() };
    this.pool = new JobPool(threads);
    this.worker = new Worker<QueuedData, null>(queueName(name), (job, token, signal) => this.work(job, token, signal), {
      connection: redisOptions(address),
      // One more than there are threads: it begins while a finished one is still being sent.
      concurrency: threads + 1,
      name: this.machine.name,
      lockDuration: lease,
      stalledInterval: lease,
      maxStalledCount: mostStalls,
    });
    this.worker.on('error', () => undefined);
    // Somebody else may have the job by now; to go on would be work done twice.
    this.worker.on('lockRenewalFailed', (ids) => {
      for (const id of ids) this.worker.cancelJob(id, 'the lease ran out');
    });
    this.timer = setInterval(() => void this.beat().catch(() => undefined), heartbeat);
  }

  static async start(options: QueueWorkerOptions): Promise<QueueWorker> {
    const name = checkName(options.queue);
    const redis = await connect(options.address);
    const wanted = await redis.get(versionKey(name));
    if (wanted !== null && wanted !== version) {
      redis.disconnect();
      throw new BadInput(
        told(
          `the queue ${name} has jobs of version ${wanted} and this is ${version}; results of two versions are not to be mixed, so install ${wanted} here or make the list anew`,
          `队列 ${name} 里的任务属于版本 ${wanted}，而这里是 ${version}；两个版本的结果不能混用，请在这里安装 ${wanted}，或重新生成列表`,
        ),
      );
    }
    const worker = new QueueWorker(redis, options, name);
    await worker.worker.waitUntilReady();
    await worker.beat();
    return worker;
  }

  /** Takes no more jobs; those under way are saved at their next iteration and given back. */
  async drain(): Promise<void> {
    clearInterval(this.timer);
    this.halt.abort();
    await this.worker.close();
    await this.pool.destroy();
    await this.redis.hdel(machinesKey(this.name), this.machine.name).catch(() => undefined);
    this.redis.disconnect();
  }

  private async work(queued: QueueJob<QueuedData, null>, token?: string, signal?: AbortSignal): Promise<null> {
    const { id, job, shared } = checked(queued);
    const folder = shared ? await this.sharedFolder(id) : undefined;
    this.machine.jobs.push(id);
    this.options.onNews?.(`begins ${id}: ${job.settings.game}, seed ${job.seed}`);
    const remote = folder === undefined ? new RemoteFolder(this.redis, filesKey(this.name, id)) : undefined;
    const scratch = remote ? await scratchFolder('job') : undefined;
    const own = folder ?? join(scratch as string, id);
    // A checkpoint is sent while the run goes on; the next one waits for that, so what is sent is never replaced meanwhile.
    let sending = Promise.resolve();
    const send = (to: RemoteFolder) => {
      const before = sending;
      sending = before.then(() => to.push(own));
      sending.catch(() => undefined);
      return before;
    };
    try {
      await remote?.pull(own);
      const outcome = await this.pool.run(
        { id, job, folder: own },
        {
          signal: AbortSignal.any([this.halt.signal, ...(signal ? [signal] : [])]),
          onProgress: (progress) => void this.tell(queued, progress),
          // What is saved because the lease ran out is nobody's: who has the job now goes on from the checkpoint before.
          ...(remote ? { onCheckpoint: async () => (signal?.aborted ? undefined : send(remote)) } : {}),
        },
      );
      await sending;
      if (outcome.status === 'failed') throw new Error(outcome.error);
      if (outcome.status === 'stopped') {
        // Somebody else may have it by now, and what is sent then must be theirs.
        if (signal?.aborted) throw new Error('the lease ran out while the job was under way');
        await remote?.push(own).catch(() => undefined);
        await queued.moveToWait(token);
        throw new WaitingError();
      }
      await remote?.push(own);
      this.machine.done++;
      this.options.onNews?.(`done ${id}`);
      return null;
    } catch (error) {
      if (!/^OOM|\bOOM command/.test((error as Error).message)) throw error;
      this.options.onNews?.(
        `gives ${id} back: Redis has no memory left; let a sweep fetch what is finished, record less, or raise its maxmemory`,
      );
      // Where even that takes memory, the job goes back when its lease has run out.
      await queued.moveToDelayed(Date.now() + outOfMemory, token).catch(() => undefined);
      throw new DelayedError();
    } finally {
      this.machine.jobs = this.machine.jobs.filter((other) => other !== id);
      if (scratch) await rm(scratch, { recursive: true, force: true });
    }
  }

  /** Inside the worker's own folder, which must be the one that the list was begun in: the queue says of it only that there is one. */
  private async sharedFolder(id: string): Promise<string> {
    const { shared } = this.options;
    if (shared === undefined)
      throw new Error(
        'the job goes to a shared disk, and this worker was not told where that is; start it with --shared FOLDER',
      );
    const top = await realpath(shared).catch(() => shared);
    const queue = await readFile(join(top, sharedFile), 'utf8').catch(() => null);
    if (queue?.trim() !== this.name)
      throw new Error(
        `${shared} is not where the queue ${this.name} keeps its runs; give --shared the folder of the runs, as this machine sees it`,
      );
    const folder = join(top, id);
    if ((await realpath(folder).catch(() => folder)) !== folder)
      throw new Error(`${folder} leads out of ${shared}, and a worker writes nowhere else; remove the link`);
    return folder;
  }

  private async tell(queued: QueueJob<QueuedData, null>, { steps, allSteps, secondsLeft }: JobProgress): Promise<void> {
    const progress: QueuedProgress = { steps, allSteps, secondsLeft, machine: this.machine.name };
    // Progress is news, not result: what is lost is said again.
    await queued.updateProgress(progress as unknown as object).catch(() => undefined);
  }

  private async beat(): Promise<void> {
    this.machine.beat = Date.now();
    await this.redis.hset(machinesKey(this.name), this.machine.name, JSON.stringify(this.machine));
  }
}

/** What is refused once is refused by every worker, so it is not tried again. */
function checked(queued: QueueJob<QueuedData, null>): ReturnType<typeof readEntry> {
  try {
    return readEntry(queued.data, queued.id as string);
  } catch (error) {
    throw new UnrecoverableError(`the job ${queued.id} is refused: ${(error as Error).message}`);
  }
}
