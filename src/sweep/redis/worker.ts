/** Works on a queue: takes a job, trains it on a thread, keeps its checkpoints where another machine can go on from them, and says how far it is. */
import { mkdtemp, rm } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Job as QueueJob, UnrecoverableError, WaitingError, Worker } from 'bullmq';
import type { Redis } from 'ioredis';
import { runSettings } from '../../faults/bench/plan.ts';
import { BadInput } from '../../recording/bad-input.ts';
import { version } from '../../recording/version.ts';
import { readSettings } from '../../training/settings.ts';
import { type Job, jobId, makeJob } from '../job.ts';
import type { JobProgress } from '../runner.ts';
import { JobPool } from '../threads.ts';
import { connect, type RedisAddress, redisOptions } from './connection.ts';
import {
  checkName,
  filesKey,
  machinesKey,
  mostStalls,
  type QueuedData,
  type QueuedProgress,
  queueName,
  versionKey,
} from './names.ts';
import { RemoteFolder } from './remote-folder.ts';

export interface QueueWorkerOptions {
  address: RedisAddress;
  queue: string;
  /** How many jobs at the same time. */
  threads: number;
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
        `the queue ${name} has jobs of version ${wanted} and this is ${version}; results of two versions are not to be mixed, so install ${wanted} here or make the list anew`,
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
    const { job, folder } = checked(queued);
    const id = queued.id as string;
    this.machine.jobs.push(id);
    this.options.onNews?.(`begins ${id}: ${job.settings.game}, seed ${job.seed}`);
    const remote = folder === undefined ? new RemoteFolder(this.redis, filesKey(this.name, id)) : undefined;
    const scratch = remote ? await mkdtemp(join(tmpdir(), 'trueline-job-')) : undefined;
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
          ...(remote ? { onCheckpoint: () => send(remote) } : {}),
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
    } finally {
      this.machine.jobs = this.machine.jobs.filter((other) => other !== id);
      if (scratch) await rm(scratch, { recursive: true, force: true });
    }
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

/** A job from the queue is input like any other: it is run only if its settings are ours and its id is that of its data. */
function checked(queued: QueueJob<QueuedData, null>): QueuedData {
  const { job, folder } = queued.data;
  try {
    if (job?.format !== 'trueline/job/1') throw new BadInput('its format is not trueline/job/1');
    if (job.version !== version)
      throw new BadInput(`it was made by version ${job.version} and this is ${version}; make the list anew`);
    const {
      seed,
      name: _,
      threads: __,
      checkpoint: ___,
      ...settings
    } = readSettings({ ...job.settings, seed: job.seed });
    if (job.bench && jobId(makeJob(runSettings(job.bench), job.seed, { bench: job.bench })) !== queued.id)
      throw new BadInput("it is no run of the zoo's bench");
    const clean: Job = { ...job, settings, seed };
    if (jobId(clean) !== queued.id) throw new BadInput('its id is not that of its settings, seed and version');
    return { job: clean, ...(folder === undefined ? {} : { folder }) };
  } catch (error) {
    throw new UnrecoverableError(`the job ${queued.id} is refused: ${(error as Error).message}`);
  }
}
