/** What runs jobs: one small interface, so that threads of this machine and many machines are the same to whoever has a list. */
import type { Job } from './job.ts';
import type { JobResult } from './work.ts';

/** A job on its way through a runner. */
export interface QueuedJob {
  id: string;
  job: Job;
  /** Where its recording and its result must be when it is done; what is there already is gone on from. */
  folder: string;
}

export type JobStatus = 'done' | 'failed' | 'stopped';

export interface JobOutcome {
  id: string;
  /** `stopped` means that the signal ended it; it can be gone on with. */
  status: JobStatus;
  /** Only where it is done. */
  result?: JobResult;
  /** Why it failed, in one sentence. */
  error?: string;
}

/** How far a job is; sent a few times a second at most. */
export interface JobProgress {
  id: string;
  steps: number;
  allSteps: number;
  secondsLeft: number;
}

export interface RunnerHooks {
  /** Every job ends soon after it is aborted, and can be gone on with. */
  signal?: AbortSignal;
  onProgress?: (progress: JobProgress) => void;
  /** Called once for each job, when it has ended. */
  onOutcome?: (outcome: JobOutcome) => void;
}

/**
 * Runs every job of a list and gives the outcomes in its order. It rejects only where it cannot work at all: a job that fails is an outcome. A runner
 * on other machines calls `runJob` there and brings the folder back; `result.json` comes last, because it says that all the rest is whole.
 */
export interface Runner {
  run(jobs: readonly QueuedJob[], hooks?: RunnerHooks): Promise<JobOutcome[]>;
}
