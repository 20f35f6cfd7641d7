/** Looks on while learners are updated: measures around the steps, and hands what it saw to the guard, the readings and the recorder. It changes nothing. */
import type { Learner } from '../../algorithms/learner.ts';
import {
  type LearnerRows,
  reserveOutputs,
  type TrainJob,
  type UpdateResult,
  type UpdateWatch,
} from '../../algorithms/ppo/update.ts';
import type { RowOutputs, StepReport } from '../../net/types.ts';
import type { Readings } from '../record/readings.ts';
import type { Recorder } from '../record/recorder.ts';
import { logitSpread, type StepMeasures, Tally } from '../record/tally.ts';
import type { Stages } from '../stages.ts';
import type { Guard } from './guard.ts';
import type { Replay } from './replay-check.ts';

const empty = (): Required<RowOutputs> => ({
  logp: new Float32Array(0),
  entropy: new Float32Array(0),
  value: new Float32Array(0),
  logits: new Float32Array(0),
});

/** A step's effect is measured on so many rows of its minibatch; in recorded iterations on all rows of every epoch's first. */
const someRows = 256;

/** What is measured around the steps of one learner. */
class Watched {
  tally: Tally | null = null;
  replay: Replay | null = null;
  after = empty();
  again = empty();
  hasAgain = false;
}

export class Watch implements UpdateWatch {
  private readonly watched = new Map<number, Watched>();

  constructor(
    private readonly stages: Pick<Stages, 'evaluate' | 'report'>,
    private readonly guard: Guard,
    private readonly recorder: Recorder | null,
  ) {}

  begin(
    learner: Learner,
    rows: LearnerRows,
    observation: number,
    iteration: number,
    recomputed: Float32Array,
    replay: Replay,
  ): void {
    const own = this.watched.get(learner.index) ?? new Watched();
    this.watched.set(learner.index, own);
    const validRatio = replay.job ? 1 - replay.failed / Math.max(1, rows.length) : Number.NaN;
    own.tally = new Tally(iteration, rows, observation, recomputed, validRatio);
    own.replay = replay;
  }

  finish(learner: Learner, result: UpdateResult): Readings {
    return this.watched.get(learner.index)!.tally!.finish(result);
  }

  /** The guard looks at the first step of every update; a recorded iteration is measured throughout. */
  measures(epoch: number, minibatch: number): boolean {
    return this.recording || (this.guard.on && epoch === 0 && minibatch === 0);
  }

  before(jobs: readonly TrainJob[]): void {
    for (const job of jobs) {
      const own = this.watched.get(job.learner.index)!;
      own.hasAgain = this.recording && job.epoch === 0 && job.minibatch === 0;
      if (own.hasAgain) own.again = this.pass(job, job.to, own.again);
    }
  }

  after(job: TrainJob, report: StepReport, stopped: boolean): void {
    const own = this.watched.get(job.learner.index)!;
    const measured: StepMeasures = { deltaLogits: Number.NaN, klAfter: Number.NaN, logitsStd: Number.NaN };
    const { logits } = job.out;
    let to = job.from;
    if (logits) {
      measured.logitsStd = logitSpread(logits, job);
      to = this.recording && job.minibatch === 0 ? job.to : Math.min(job.to, job.from + someRows);
      own.after = this.pass(job, to, own.after);
      compare(job, to, logits, own.after, measured);
    }
    own.tally!.step(job, report, measured);
    this.recorder?.step(job, this.stages.report(job, report), report, {
      ...measured,
      stopped,
      skipped: false,
      validRatio: own.replay?.job ? (job.to - job.from) / (job.end - job.from) : Number.NaN,
      inputSpread: own.tally!.inputSpread,
      after: logits ? own.after : null,
      afterRows: to - job.from,
      again: own.hasAgain ? own.again : null,
      replay: own.replay,
    });
    // After it is recorded, so that a step which stops the run is there to be looked at.
    this.guard.checkStep(job, report, measured);
  }

  skipped(job: TrainJob): void {
    const own = this.watched.get(job.learner.index)!;
    this.recorder?.step(job, null, null, {
      deltaLogits: Number.NaN,
      klAfter: Number.NaN,
      logitsStd: Number.NaN,
      stopped: false,
      skipped: true,
      validRatio: (job.to - job.from) / (job.end - job.from),
      inputSpread: own.tally!.inputSpread,
      after: null,
      afterRows: 0,
      again: null,
      replay: own.replay,
    });
    this.guard.skipped(job);
  }

  private get recording(): boolean {
    return this.recorder?.whole ?? false;
  }

  private pass(job: TrainJob, to: number, out: Required<RowOutputs>): Required<RowOutputs> {
    const { offsets } = job.rows;
    let widest = 0;
    for (let i = job.from; i < to; i++) widest = Math.max(widest, offsets[job.order[i] + 1] - offsets[job.order[i]]);
    const room = reserveOutputs(out, to - job.from, widest);
    // Only the policy is compared, so the critic is left out.
    const { logp, entropy, logits } = room;
    this.stages.evaluate(job, job.from, to, { logp, entropy, logits });
    return room;
  }
}

function compare(
  job: TrainJob,
  to: number,
  before: Float32Array,
  after: Required<RowOutputs>,
  measured: StepMeasures,
): void {
  const { offsets, oldLogp } = job.rows;
  let at = 0;
  let moved = 0;
  let kl = 0;
  for (let i = job.from; i < to; i++) {
    const row = job.order[i];
    const end = at + offsets[row + 1] - offsets[row];
    for (; at < end; at++) moved += (after.logits[at] - before[at]) ** 2;
    kl += 0.5 * (after.logp[i - job.from] - oldLogp[row]) ** 2;
  }
  measured.deltaLogits = Math.sqrt(moved / Math.max(1, at));
  measured.klAfter = kl / (to - job.from);
}
