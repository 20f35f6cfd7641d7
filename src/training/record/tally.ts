/** Adds up the readings of one learner's update. Means are over rows, so a smaller last minibatch does not count more than its rows. */
import type { LearnerRows, TrainJob, UpdateResult } from '../../algorithms/ppo/update.ts';
import type { Role, RowOutputs, StepReport } from '../../net/types.ts';
import { identity } from '../update/learner-rows.ts';
import { noReadings, type ReadingName, type Readings } from './readings.ts';

/** What was measured around one step; NaN where it was not. */
export interface StepMeasures {
  deltaLogits: number;
  klAfter: number;
  logitsStd: number;
}

const perRow = ['k1', 'k2', 'k3', 'clip_fraction', 'entropy', 'policy_loss', 'value_loss', 'ratio_mean'] as const;
const roles: readonly Role[] = ['trunk', 'head', 'critic'];
/** Rows that the spread of the inputs is measured on. */
const spreadRows = 256;

class Mean {
  private sum = 0;
  private weight = 0;
  add(value: number, weight = 1): void {
    this.sum += value * weight;
    this.weight += weight;
  }
  get value(): number {
    return this.weight > 0 ? this.sum / this.weight : Number.NaN;
  }
}

export class Tally {
  private readonly means = new Map<ReadingName, Mean>();
  private readonly ratioSquares = new Mean();
  private steps = 0;
  /** Sums for the correlation of log-ratio (x) with recomputed advantage (y). */
  private readonly sums = new Float64Array(6);
  /** The sum of entropy ratios and how many there are. */
  private readonly entropies = new Float64Array(2);
  private readonly fixed: Partial<Readings> = {};
  private facts = new Float32Array(0);
  /** The facts of a minibatch's rows, in its order. */
  private near = new Float32Array(0);
  private factsFrom: LearnerRows | null = null;

  /** `recomputed` holds this iteration's advantages by sample, computed from rewards, values and ends alone. */
  constructor(
    private readonly iteration: number,
    rows: LearnerRows,
    observation: number,
    private readonly recomputed: Float32Array,
    validRatio: number,
  ) {
    this.fixed.explained_variance = explainedVariance(rows.oldValue, rows.return, rows.length);
    this.fixed.input_spread = inputSpread(rows, observation);
    this.fixed.valid_ratio = validRatio;
  }

  get inputSpread(): number {
    return this.fixed.input_spread ?? Number.NaN;
  }

  step(job: TrainJob, report: StepReport, measured: StepMeasures): void {
    const rows = job.to - job.from;
    const figures: Record<(typeof perRow)[number], number> = {
      k1: report.k1,
      k2: report.k2,
      k3: report.k3,
      clip_fraction: report.clipFraction,
      entropy: report.entropy,
      policy_loss: report.policyLoss,
      value_loss: report.valueLoss,
      ratio_mean: report.ratioMean,
    };
    for (const name of perRow) this.mean(name).add(figures[name], rows);
    this.ratioSquares.add(report.ratioStd ** 2 + report.ratioMean ** 2, rows);
    this.mean('grad_norm').add(report.gradNorm);
    if (report.tensors) this.tensors(job, report);
    for (const [name, value] of [
      ['delta_logits', measured.deltaLogits],
      ['logit_spread', measured.logitsStd],
    ] as const)
      if (!Number.isNaN(value)) this.mean(name).add(value);
    this.rows(job);
    this.steps++;
  }

  finish(result: UpdateResult): Readings {
    const readings = noReadings();
    for (const [name, mean] of this.means) readings[name] = mean.value;
    Object.assign(readings, this.fixed);
    readings.ratio_std = Math.sqrt(Math.max(0, this.ratioSquares.value - readings.ratio_mean ** 2));
    readings.credit_correlation = correlation(this.sums);
    if (this.entropies[1] > 0) readings.entropy_ratio = this.entropies[0] / this.entropies[1];
    readings.kl_after = result.klAfter;
    readings.learning_rate = result.learningRate;
    return readings;
  }

  private mean(name: ReadingName): Mean {
    const mean = this.means.get(name) ?? new Mean();
    this.means.set(name, mean);
    return mean;
  }

  private tensors(job: TrainJob, report: StepReport): void {
    for (const role of roles) {
      let gradient = 0;
      let change = 0;
      report.tensors?.forEach((tensor, i) => {
        if (job.policy.parameters[i].role !== role) return;
        gradient += tensor.gradNorm ** 2;
        change += tensor.deltaNorm ** 2;
      });
      this.mean(`grad_norm.${role}`).add(Math.sqrt(gradient));
      this.mean(`change.${role}`).add(Math.sqrt(change));
    }
  }

  private rows(job: TrainJob): void {
    const { out, order, from } = job;
    const count = job.to - from;
    const visited = job.visited ?? identity(count);
    const facts = this.factsOf(job.rows);
    // Before the first step every log-ratio is 0, so the correlation leaves that one out.
    const sums = this.steps > 0 ? this.sums : new Float64Array(this.sums.length);
    if (this.near.length < count * 4) this.near = new Float32Array(count * 4);
    for (let i = 0; i < count; i += stretch)
      bringFacts(this.near, facts, order, from, visited, i, Math.min(count, i + stretch));
    for (let i = 0; i < count; i += stretch)
      addRows(sums, this.entropies, this.near, out, i, Math.min(count, i + stretch));
  }

  /** What `rows` reads of a row, side by side: log of the count, whether of this iteration, old_logp, advantage. */
  private factsOf(rows: LearnerRows): Float32Array {
    if (this.factsFrom !== rows) {
      if (this.facts.length < rows.length * 4) this.facts = new Float32Array(rows.length * 4);
      for (let row = 0; row < rows.length; row += stretch)
        writeFacts(this.facts, rows, row, Math.min(rows.length, row + stretch), this.iteration, this.recomputed);
      this.factsFrom = rows;
    }
    return this.facts;
  }
}

/** Rows of one call of the loops below: they are called often, because the compiler is slow to take up a long loop of a function that is called seldom. */
const stretch = 512;

function writeFacts(
  facts: Float32Array,
  rows: LearnerRows,
  from: number,
  to: number,
  now: number,
  recomputed: Float32Array,
): void {
  const { logCount, iteration, oldLogp, sample } = rows;
  for (let row = from, at = from * 4; row < to; row++, at += 4) {
    const own = iteration[row] === now;
    facts[at] = logCount[row];
    facts[at + 1] = own ? 1 : 0;
    facts[at + 2] = oldLogp[row];
    facts[at + 3] = own ? recomputed[sample[row]] : 0;
  }
}

/** Fetches the facts of rows order[from ..], read as they lie in memory: in the order of a minibatch, every row would be waited for. */
function bringFacts(
  near: Float32Array,
  facts: Float32Array,
  order: Int32Array,
  from: number,
  visited: Int32Array,
  start: number,
  end: number,
): void {
  for (let i = start; i < end; i++) {
    const to = visited[i] * 4;
    const row = order[from + visited[i]] * 4;
    near[to] = facts[row];
    near[to + 1] = facts[row + 1];
    near[to + 2] = facts[row + 2];
    near[to + 3] = facts[row + 3];
  }
}

/**
 * Adds to `sums` what the correlation of log-ratio and advantage is made of, and to `entropies` the entropies in parts of the largest
 * possible, and how many there are; a row with one choice has none.
 */
function addRows(
  sums: Float64Array,
  entropies: Float64Array,
  facts: Float32Array,
  { logp, entropy }: RowOutputs,
  start: number,
  end: number,
): void {
  // Each declared by itself: sums that come out of an array make this loop four times as slow.
  let n = 0;
  let xs = 0;
  let ys = 0;
  let xx = 0;
  let yy = 0;
  let xy = 0;
  let ratio = 0;
  let counted = 0;
  for (let at = start; at < end; at++) {
    const row = at * 4;
    const logCount = facts[row];
    if (logCount > 0) {
      ratio += entropy[at] / logCount;
      counted++;
    }
    if (facts[row + 1] === 0) continue;
    const x = logp[at] - facts[row + 2];
    const y = facts[row + 3];
    n++;
    xs += x;
    ys += y;
    xx += x * x;
    yy += y * y;
    xy += x * y;
  }
  entropies[0] += ratio;
  entropies[1] += counted;
  sums[0] += n;
  sums[1] += xs;
  sums[2] += ys;
  sums[3] += xx;
  sums[4] += yy;
  sums[5] += xy;
}

function correlation([n, x, y, xx, yy, xy]: Float64Array): number {
  const spread = (xx - (x * x) / n) * (yy - (y * y) / n);
  return n > 1 && spread > 0 ? (xy - (x * y) / n) / Math.sqrt(spread) : Number.NaN;
}

export function explainedVariance(value: ArrayLike<number>, returns: ArrayLike<number>, count: number): number {
  let mean = 0;
  let error = 0;
  for (let i = 0; i < count; i++) {
    mean += returns[i] / count;
    error += (returns[i] - value[i]) / count;
  }
  let total = 0;
  let left = 0;
  for (let i = 0; i < count; i++) {
    total += (returns[i] - mean) ** 2;
    left += (returns[i] - value[i] - error) ** 2;
  }
  return total > 0 ? 1 - left / total : Number.NaN;
}

function inputSpread(rows: LearnerRows, width: number): number {
  const stride = Math.max(1, Math.ceil(rows.length / spreadRows));
  const { obs, length } = rows;
  let count = 0;
  let sum = 0;
  for (let row = 0; row < length; row += stride) {
    for (let i = row * width, end = i + width; i < end; i++) sum += obs[i];
    count += width;
  }
  const mean = sum / count;
  let squares = 0;
  for (let row = 0; row < length; row += stride)
    for (let i = row * width, end = i + width; i < end; i++) squares += (obs[i] - mean) * (obs[i] - mean);
  return count > 0 ? Math.sqrt(squares / count) : Number.NaN;
}

/** Spread of the logits within a row, averaged over rows; rows of one candidate are left out. */
export function logitSpread(logits: Float32Array, job: TrainJob): number {
  const { offsets } = job.rows;
  let at = 0;
  let sum = 0;
  let rows = 0;
  for (let i = job.from; i < job.to; i++) {
    const row = job.order[i];
    const count = offsets[row + 1] - offsets[row];
    let mean = 0;
    for (let c = 0; c < count; c++) mean += logits[at + c] / count;
    let squares = 0;
    for (let c = 0; c < count; c++) squares += (logits[at + c] - mean) ** 2;
    at += count;
    if (count < 2) continue;
    sum += Math.sqrt(squares / count);
    rows++;
  }
  return rows > 0 ? sum / rows : 0;
}
