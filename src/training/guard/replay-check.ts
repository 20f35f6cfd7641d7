/** The replay check: before an iteration's first step every row's log-probability is computed anew along the update's own path and compared with the stored one. */
import type { Learner } from '../../algorithms/learner.ts';
import {
  type LearnerRows,
  reserveOutputs,
  type TrainJob,
  type UpdatePlan,
  type UpdateStages,
  updateSettings,
} from '../../algorithms/ppo/update.ts';
import type { RowOutputs } from '../../net/types.ts';
import { identity } from '../update/learner-rows.ts';

/** Beyond single-precision noise and far below what any other distribution would give. */
export const replayTolerance = 1e-4;

export class Replay {
  /** 1 where the row passed. */
  valid = new Uint8Array(0);
  /** The job as the loss stage made it, and what a forward pass of it gave, by row. */
  job: TrainJob | null = null;
  out: Required<RowOutputs> = {
    logp: new Float32Array(0),
    entropy: new Float32Array(0),
    value: new Float32Array(0),
    logits: new Float32Array(0),
  };
  failed = 0;
  firstFailed = -1;

  /** Nothing is checked, every row passes. */
  skip(rows: LearnerRows): void {
    if (this.valid.length < rows.length) this.valid = new Uint8Array(rows.length);
    this.valid.fill(1, 0, rows.length);
    this.failed = 0;
    this.firstFailed = -1;
    this.job = null;
  }

  /** One forward pass over all rows. A probe's temperature is left out: rows are compared with the distribution they were sampled from. */
  run(learner: Learner, rows: LearnerRows, plan: UpdatePlan, stages: UpdateStages, withLogits: boolean): void {
    this.skip(rows);
    let widest = 0;
    for (let i = 0; i < rows.length && withLogits; i++)
      widest = Math.max(widest, rows.offsets[i + 1] - rows.offsets[i]);
    this.out = reserveOutputs(this.out, rows.length, widest);
    const { logp, entropy, value, logits } = this.out;
    const out: RowOutputs = withLogits ? { logp, entropy, value, logits } : { logp, entropy };
    const settings = updateSettings(learner, { ...plan, temperature: 1 });
    const job = stages.loss({
      learner,
      policy: learner.policy,
      rows,
      order: identity(rows.length),
      from: 0,
      to: rows.length,
      end: rows.length,
      settings,
      out,
      bound: [],
      iteration: plan.iteration,
      epoch: 0,
      minibatch: 0,
      probe: '',
    });
    this.job = job;
    stages.evaluate(job, job.from, job.to, out);
    for (let i = job.from; i < job.to; i++) {
      const row = i - job.from;
      // Written so that NaN fails.
      if (Math.abs(logp[row] - job.rows.oldLogp[job.order[i]]) < replayTolerance) continue;
      this.valid[row] = 0;
      this.failed++;
      if (this.firstFailed < 0) this.firstFailed = row;
    }
  }
}
