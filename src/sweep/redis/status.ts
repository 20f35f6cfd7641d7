/** How a queue stands: jobs by state, machines, throughput and time left. */
import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { askOnce, type RedisAddress } from './connection.ts';
import { checkName, machinesKey, type QueuedData, type QueuedProgress, queueName } from './names.ts';
import { believed, type Machine } from './worker.ts';

export interface QueueStatus {
  format: 'trueline/queue-status/1';
  queue: string;
  jobs: { waiting: number; active: number; delayed: number; completed: number; failed: number };
  machines: Machine[];
  running: (QueuedProgress & { id: string; game: string; seed: number })[];
  failed: { id: string; error: string }[];
  /** Jobs a minute over the last completed ones; null until two are done. */
  perMinute: number | null;
  secondsLeft: number | null;
}

/** Completed jobs that the throughput is taken from. */
const recent = 100;

/** Says in a sentence when Redis is gone, before the first answer or between two. */
export async function queueStatus(address: RedisAddress, queue: string): Promise<QueueStatus> {
  const name = checkName(queue);
  return askOnce(address, (redis) => readStatus(redis, name));
}

async function readStatus(redis: Redis, name: string): Promise<QueueStatus> {
  const held = new Queue<QueuedData, null>(queueName(name), { connection: redis });
  held.on('error', () => undefined);
  try {
    const counts = await held.getJobCounts('waiting', 'active', 'delayed', 'completed', 'failed');
    const [active, failed, completed] = await Promise.all([
      held.getJobs(['active']),
      held.getJobs(['failed'], 0, 99),
      held.getJobs(['completed'], 0, recent - 1),
    ]);
    const machines = Object.values(await redis.hgetall(machinesKey(name)))
      .map((text) => JSON.parse(text) as Machine)
      .filter(({ beat }) => Date.now() - beat < believed);
    const ends = completed.map(({ finishedOn }) => finishedOn ?? 0).sort((a, b) => a - b);
    const span = ends.length > 1 ? ends[ends.length - 1] - ends[0] : 0;
    const perMinute = span > 0 ? ((ends.length - 1) / span) * 60_000 : null;
    const left = counts.waiting + counts.active + counts.delayed;
    return {
      format: 'trueline/queue-status/1',
      queue: name,
      jobs: {
        waiting: counts.waiting,
        active: counts.active,
        delayed: counts.delayed,
        completed: counts.completed,
        failed: counts.failed,
      },
      machines,
      running: active.map((job) => ({
        id: job.id as string,
        game: job.data.job.settings.game,
        seed: job.data.job.seed,
        ...(typeof job.progress === 'object'
          ? (job.progress as unknown as QueuedProgress)
          : { steps: 0, allSteps: job.data.job.settings.steps, secondsLeft: Number.NaN, machine: '' }),
      })),
      failed: failed.map((job) => ({ id: job.id as string, error: job.failedReason ?? '' })),
      perMinute,
      secondsLeft: perMinute ? (left / perMinute) * 60 : null,
    };
  } finally {
    // The connection is not the queue's own; where it has ended, so has the queue.
    await held.close().catch(() => undefined);
  }
}
