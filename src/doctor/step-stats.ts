/** Figures of every optimiser step recomputed from its rows: losses, KL estimators, clip fraction. Rows of weight 0 did not enter the loss and are left out. */
import { Pairs } from '../math/statistics.ts';
import { type Iteration, stepKey } from './iteration.ts';
import type { Numbers } from './rows.ts';

export interface StepStat {
  policy: number;
  epoch: number;
  minibatch: number;
  rows: number;
  weight: number;
  before: boolean;
  /** Means over the weight. */
  loss: number;
  unclippedLoss: number;
  meanAbsolute: number;
  /** Of all pairs of a ratio with an advantage. */
  outerLoss: number;
  k1: number;
  k2: number;
  k3: number;
  k1Error: number;
  after1: number;
  after2: number;
  after3: number;
  clipFraction: number;
  clipBinding: number;
  entropy: number;
  logCount: number;
  /** Mean square of value minus return, and the same over all pairs. */
  valueLoss: number;
  outerValueLoss: number;
  largestMove: number;
  /** Log-ratio, and change across the step, against the advantage used. */
  ratioPairs: Pairs;
  changePairs: Pairs;
}

class Sums {
  readonly sums = new Float64Array(24);
  readonly ratioPairs = new Pairs();
  readonly changePairs = new Pairs();
  rows = 0;
  largest = 0;
  constructor(
    readonly policy: number,
    readonly epoch: number,
    readonly minibatch: number,
    readonly before: boolean,
  ) {}
}

export const defaultClip = 0.2;

export function stepStats(iteration: Iteration): Map<number, StepStat> {
  const { replays, samples, before, run } = iteration;
  const found = new Map<number, StepStat>();
  if (!replays || !before) return found;
  const clip = Number.isFinite(run.number('clip')) ? run.number('clip') : defaultClip;
  const epoch = replays.column('epoch')!;
  const minibatch = replays.column('minibatch')!;
  const policy = replays.column('policy');
  const sample = replays.column('sample')!;
  const source = replays.column('source_iteration');
  const weight = replays.column('weight');
  const fresh = replays.measured('new_logp')!;
  const used = replays.column('old_logp');
  const stored = samples?.measured('old_logp');
  const advantage = replays.column('advantage');
  const entropy = replays.column('entropy');
  const value = replays.column('value');
  const target = replays.column('return');
  const after = replays.column('after_logp');
  const { logCount } = iteration;
  const steps = new Map<number, Sums>();
  let current: Sums | null = null;
  let key = -1;
  for (let i = 0; i < replays.rows; i++) {
    const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
    if (w === 0) continue;
    const own = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
    if (own !== key || !current) {
      key = own;
      current = steps.get(own) ?? new Sums(policy ? policy[i] : 0, epoch[i], minibatch[i], before[i] === 1);
      steps.set(own, current);
    }
    const here =
      !(source && source[i] !== iteration.number && !Number.isNaN(source[i])) && !!samples && sample[i] < samples.rows;
    const old = used && !Number.isNaN(used[i]) ? used[i] : here && stored ? stored[sample[i]] : Number.NaN;
    add(current, w, fresh[i], old, advantage, entropy, value, target, after, i, clip);
    if (logCount && here) current.sums[19] += w * logCount[sample[i]];
  }
  const has = {
    advantage: advantage !== null,
    value: value !== null && target !== null,
    entropy: entropy !== null,
    count: logCount !== null,
  };
  for (const [step, sums] of steps) found.set(step, finish(sums, has));
  return found;
}

function add(
  step: Sums,
  w: number,
  fresh: number,
  old: number,
  advantage: Numbers | null,
  entropy: Numbers | null,
  value: Numbers | null,
  target: Numbers | null,
  after: Numbers | null,
  i: number,
  clip: number,
): void {
  const { sums } = step;
  const log = fresh - old;
  const grown = Math.expm1(log);
  const ratio = 1 + grown;
  const probability = Math.exp(old);
  step.rows++;
  sums[0] += w;
  sums[1] -= w * log;
  sums[2] += w * 0.5 * log * log;
  sums[3] += w * (grown - log);
  const clipped = Math.max(1 - clip, Math.min(1 + clip, ratio));
  if (Math.abs(ratio - 1) > clip) sums[4] += w;
  const smaller = Math.min(ratio, clipped);
  const larger = Math.max(ratio, clipped);
  sums[5] += w * smaller;
  sums[6] += w * larger;
  if (advantage) {
    const a = advantage[i];
    sums[7] -= w * (a > 0 ? smaller : larger) * a;
    sums[8] -= w * ratio * a;
    sums[9] += w * Math.abs(a * ratio);
    if (a > 0) sums[10] += w * a;
    else sums[11] += w * a;
    if ((a > 0 && ratio > 1 + clip) || (a < 0 && ratio < 1 - clip)) sums[12] += w;
    if (Number.isFinite(log) && Number.isFinite(a)) step.ratioPairs.add(log, a);
  }
  if (entropy) sums[13] += w * entropy[i];
  if (value && target) {
    sums[14] += w * value[i];
    sums[15] += w * value[i] * value[i];
    sums[16] += w * target[i];
    sums[17] += w * target[i] * target[i];
    sums[18] += w * (value[i] - target[i]) ** 2;
  }
  const moved = probability * Math.abs(grown);
  if (!step.before && moved > step.largest) step.largest = moved;
  if (after && !Number.isNaN(after[i])) {
    const change = after[i] - fresh;
    const whole = after[i] - old;
    sums[20] -= w * whole;
    sums[21] += w * 0.5 * whole * whole;
    const grownAfter = Math.expm1(whole);
    sums[22] += w * (grownAfter - whole);
    sums[23] += w;
    const across = probability * Math.abs(grownAfter - grown);
    if (across > step.largest) step.largest = across;
    if (advantage && Number.isFinite(change) && Number.isFinite(advantage[i]))
      step.changePairs.add(change, advantage[i]);
  }
}

interface Has {
  advantage: boolean;
  value: boolean;
  entropy: boolean;
  count: boolean;
}

function finish(step: Sums, has: Has): StepStat {
  const s = step.sums;
  const w = s[0];
  const known = (value: number, yes: boolean) => (yes ? value : Number.NaN);
  const k1 = s[1] / w;
  const variance = Math.max(0, (2 * s[2]) / w - k1 * k1);
  const afterWeight = s[23];
  return {
    policy: step.policy,
    epoch: step.epoch,
    minibatch: step.minibatch,
    rows: step.rows,
    weight: w,
    before: step.before,
    loss: known(s[7] / w, has.advantage),
    unclippedLoss: known(s[8] / w, has.advantage),
    meanAbsolute: known(s[9] / w, has.advantage),
    outerLoss: known(-((s[5] / w) * (s[10] / w) + (s[6] / w) * (s[11] / w)), has.advantage),
    k1,
    k2: s[2] / w,
    k3: s[3] / w,
    k1Error: Math.sqrt(variance / step.rows),
    after1: afterWeight > 0 ? s[20] / afterWeight : Number.NaN,
    after2: afterWeight > 0 ? s[21] / afterWeight : Number.NaN,
    after3: afterWeight > 0 ? s[22] / afterWeight : Number.NaN,
    clipFraction: s[4] / w,
    clipBinding: known(s[12] / w, has.advantage),
    entropy: known(s[13] / w, has.entropy),
    logCount: known(s[19] / w, has.count),
    valueLoss: known(s[18] / w, has.value),
    outerValueLoss: known(s[15] / w - 2 * (s[14] / w) * (s[16] / w) + s[17] / w, has.value),
    largestMove: step.largest,
    ratioPairs: step.ratioPairs,
    changePairs: step.changePairs,
  };
}

/** A step of the `steps` table beside its recomputed figures. */
export interface ReportedStep {
  row: number;
  stat: StepStat;
}

export function reportedSteps(iteration: Iteration): ReportedStep[] {
  const { steps } = iteration;
  if (!steps) return [];
  const epoch = steps.column('epoch')!;
  const minibatch = steps.column('minibatch')!;
  const policy = steps.column('policy');
  const skipped = steps.column('skipped');
  const found: ReportedStep[] = [];
  for (let row = 0; row < steps.rows; row++) {
    if (skipped?.[row] === 1) continue;
    const stat = iteration.stats.get(stepKey(epoch[row], minibatch[row], policy ? policy[row] : 0));
    if (stat) found.push({ row, stat });
  }
  return found;
}
