/** What `trueline/sweep` offers, in Node: the list of jobs, the interface of a runner and the runners of one machine. */
export { readSweep, type SweepFile, sweepSchema } from './file.ts';
export { InlineRunner } from './inline.ts';
export {
  canonical,
  differences,
  type Job,
  type JobEvaluation,
  type JobExtras,
  type JobSettings,
  jobId,
  makeJob,
} from './job.ts';
export type { JobOutcome, JobProgress, JobStatus, QueuedJob, Runner, RunnerHooks } from './runner.ts';
export {
  readList,
  runSweep,
  type StatusEntry,
  type SweepJob,
  type SweepList,
  type SweepOptions,
  type SweepOutcome,
  type SweepProgress,
  sweepStatus,
} from './sweep.ts';
export { type ThreadOptions, ThreadRunner } from './threads.ts';
export { type EvaluationResult, type JobResult, readResult, runJob, type WorkHooks } from './work.ts';
