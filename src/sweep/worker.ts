/** The program of a worker thread: does one job after the other, tells how far it is, and stops when the shared word says so. */
import { once } from 'node:events';
import type { MessagePort } from 'node:worker_threads';
import type { JobOutcome, QueuedJob } from './runner.ts';
import { runJob } from './work.ts';

export interface WorkerTask extends QueuedJob {
  port: MessagePort;
  /** One word of shared memory; anything but 0 ends the job after its iteration. */
  stop: Int32Array;
  engineThreads: 1 | 2;
  /** Whether somebody waits to be told of checkpoints. */
  checkpoints: boolean;
}

/** Milliseconds between two messages about a job. */
const interval = 200;

export default async function work(task: WorkerTask): Promise<JobOutcome> {
  const { id, job, folder, port, stop, engineThreads, checkpoints } = task;
  const halt = new AbortController();
  let told = 0;
  const stopped = () => Atomics.load(stop, 0) !== 0;
  if (stopped()) return { id, status: 'stopped' };
  try {
    const result = await runJob(job, folder, {
      signal: halt.signal,
      threads: engineThreads,
      onProgress(progress) {
        if (stopped()) halt.abort();
        if (performance.now() - told < interval) return;
        told = performance.now();
        port.postMessage(progress);
      },
      ...(checkpoints ? { onCheckpoint: () => kept(port) } : {}),
    });
    return result ? { id, status: 'done', result } : { id, status: 'stopped' };
  } catch (error) {
    return { id, status: 'failed', error: (error as Error).message };
  }
}

/** Says that a checkpoint is there, and waits until it was dealt with. */
async function kept(port: MessagePort): Promise<void> {
  const answered = once(port, 'message');
  port.postMessage('checkpoint');
  const [error] = (await answered) as [string];
  if (error) throw new Error(error);
}
