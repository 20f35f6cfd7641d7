/** The rows of the `replays` table: what entered each loss, as the loss stage made it and as its forward pass scored it. */
import type { TrainJob } from '../../algorithms/ppo/update.ts';
import type { RowOutputs } from '../../net/types.ts';
import type { Replay } from '../guard/replay-check.ts';
import { floats, type Growing, ints, Ragged } from './growing.ts';
import type { StepMeasures } from './tally.ts';

/** What was seen around one step. */
export interface SeenStep extends StepMeasures {
  stopped: boolean;
  skipped: boolean;
  validRatio: number;
  inputSpread: number;
  /** The first `afterRows` rows of the minibatch after the step. */
  after: RowOutputs | null;
  afterRows: number;
  again: RowOutputs | null;
  replay: Replay | null;
}

/** Where the figures of rows come from: in the order asked for, or where `offsets` is given by row. */
interface ForwardPass {
  out: RowOutputs;
  offsets: Int32Array | null;
  weight: number;
  temperature: number;
}

export class ReplayRows {
  readonly columns = {
    iteration: ints(),
    epoch: ints(),
    minibatch: ints(),
    sample: ints(),
    source_iteration: ints(),
    policy: ints(),
    new_logp: floats(),
    old_logp: floats(),
    advantage: floats(),
    entropy: floats(),
    value: floats(),
    return: floats(),
    weight: floats(),
    temperature: floats(),
    after_logp: floats(),
    again_logp: floats(),
    logits: new Ragged(Float32Array),
    subset: new Ragged(Int32Array),
    legal: new Ragged(Uint8Array),
  };

  /** Rows that entered the loss with the figures of its forward pass; rows that were dropped with weight 0 and those of the replay check. */
  add(job: TrainJob, seen: SeenStep): void {
    const used = seen.skipped ? job.from : job.to;
    this.addRows(
      job,
      job.from,
      used,
      { out: job.out, offsets: null, weight: 1, temperature: job.settings.temperature },
      seen,
    );
    const { replay } = seen;
    if (used === job.end || !replay?.job) return;
    // The replay check went through all rows in order, so a row's figures are at its own place there.
    const { rows, settings } = replay.job;
    this.addRows(
      job,
      used,
      job.end,
      { out: replay.out, offsets: rows.offsets, weight: 0, temperature: settings.temperature },
      null,
    );
  }

  /** Rows as one forward pass scored them, without a step. */
  addPass(job: TrainJob): void {
    const { temperature } = job.settings;
    this.addRows(job, job.from, job.to, { out: job.out, offsets: null, weight: 1, temperature }, null);
  }

  /** Column by column, because a recorded iteration has hundreds of thousands of these rows. */
  private addRows(job: TrainJob, from: number, to: number, pass: ForwardPass, seen: SeenStep | null): void {
    const { columns } = this;
    const { rows, order, learner } = job;
    const { out, offsets } = pass;
    const count = to - from;
    const constant = (column: Growing<Int32Array> | Growing<Float32Array>, value: number) => {
      const start = column.extend(count);
      column.array.fill(value, start, start + count);
    };
    /** Fills from a column of the rows, or where `byPass` from a column of the forward pass; scaled and shifted. */
    const gathered = (
      column: Growing<Int32Array> | Growing<Float32Array>,
      source: ArrayLike<number>,
      byPass: boolean,
      scale = 1,
      shift = 0,
    ) => {
      const start = column.extend(count);
      for (let i = 0; i < count; i++) {
        const row = order[from + i];
        column.array[start + i] = source[byPass && !offsets ? i : row] * scale + shift;
      }
    };
    const { mean, spread } = learner.normaliser;
    constant(columns.iteration, job.iteration);
    constant(columns.epoch, job.epoch);
    constant(columns.minibatch, job.minibatch);
    constant(columns.policy, learner.index);
    constant(columns.temperature, pass.temperature);
    gathered(columns.sample, rows.sample, false);
    gathered(columns.source_iteration, rows.iteration, false);
    gathered(columns.new_logp, out.logp, true);
    gathered(columns.old_logp, rows.oldLogp, false);
    gathered(columns.advantage, rows.advantage, false, job.settings.advantageScale);
    gathered(columns.entropy, out.entropy, true);
    if (out.value) gathered(columns.value, out.value, true, spread, mean);
    else constant(columns.value, Number.NaN);
    gathered(columns.return, rows.return, false, spread, mean);
    if (rows.weight) gathered(columns.weight, rows.weight, false, pass.weight);
    else constant(columns.weight, pass.weight);
    const known = (column: Growing<Float32Array>, source: RowOutputs | null | undefined, length: number) => {
      const start = column.extend(count);
      column.array.fill(Number.NaN, start, start + count);
      if (source) column.array.set(source.logp.subarray(0, length), start);
    };
    known(columns.after_logp, seen?.after, seen?.afterRows ?? 0);
    known(columns.again_logp, seen?.again, count);
    this.addLists(job, from, to, pass);
  }

  private addLists(job: TrainJob, from: number, to: number, pass: ForwardPass): void {
    const { columns } = this;
    const { order } = job;
    const { offsets } = job.rows;
    let total = 0;
    for (let i = from; i < to; i++) total += offsets[order[i] + 1] - offsets[order[i]];
    const start = columns.subset.extend(to - from, total);
    columns.legal.extend(to - from, total);
    columns.logits.extend(to - from, total);
    copyLists(job.rows.subset, offsets, offsets, order, from, to, columns.subset.values.array, start);
    copyLists(job.rows.legal, offsets, offsets, order, from, to, columns.legal.values.array, start);
    const logits = columns.logits.values.array;
    // Figures in the order asked for lie one after the other; those of the replay check lie by row.
    if (!pass.out.logits) logits.fill(Number.NaN, start, start + total);
    else if (pass.offsets) copyLists(pass.out.logits, pass.offsets, offsets, order, from, to, logits, start);
    else logits.set(pass.out.logits.subarray(0, total), start);
    let at = start;
    let row = columns.subset.length - (to - from);
    for (let i = from; i < to; i++, row++) {
      at += offsets[order[i] + 1] - offsets[order[i]];
      columns.subset.end(row, at);
      columns.legal.end(row, at);
      columns.logits.end(row, at);
    }
  }
}

/** Candidate lists of rows order[from .. to), one after the other; `at` says where a row's list begins in `source`. */
function copyLists(
  source: ArrayLike<number>,
  at: Int32Array,
  offsets: Int32Array,
  order: Int32Array,
  from: number,
  to: number,
  into: { [index: number]: number },
  start: number,
): void {
  let target = start;
  for (let i = from; i < to; i++) {
    const row = order[i];
    const count = offsets[row + 1] - offsets[row];
    const first = at[row];
    for (let c = 0; c < count; c++) into[target + c] = source[first + c];
    target += count;
  }
}
