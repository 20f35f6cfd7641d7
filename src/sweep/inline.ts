/** Runs jobs one after the other on the calling thread: for tests, and where threads cannot be started. */
import type { JobOutcome, QueuedJob, Runner, RunnerHooks } from './runner.ts';
import { runJob } from './work.ts';

export class InlineRunner implements Runner {
  async run(jobs: readonly QueuedJob[], hooks: RunnerHooks = {}): Promise<JobOutcome[]> {
    const outcomes: JobOutcome[] = [];
    for (const { id, job, folder } of jobs) {
      const outcome: JobOutcome = hooks.signal?.aborted
        ? { id, status: 'stopped' }
        : await runJob(job, folder, hooks).then(
            (result) => (result ? { id, status: 'done', result } : { id, status: 'stopped' }),
            (error: unknown) => ({ id, status: 'failed', error: (error as Error).message }),
          );
      outcomes.push(outcome);
      hooks.onOutcome?.(outcome);
    }
    return outcomes;
  }
}
