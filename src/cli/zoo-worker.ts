/** A thread of `trueline zoo bench`: takes a run, gives its outcome. */
import { parentPort } from 'node:worker_threads';
import { Bench } from '../faults/bench/outcome.ts';
import type { Job } from '../faults/bench/plan.ts';

const bench = new Bench();
parentPort?.on('message', (job: Job | null) => {
  if (job === null) {
    bench.dispose();
    parentPort?.close();
    return;
  }
  bench.run(job).then(
    (outcome) => parentPort?.postMessage({ outcome }),
    (error: Error) => parentPort?.postMessage({ error: `${job.id}: ${error.stack ?? error.message}` }),
  );
});
