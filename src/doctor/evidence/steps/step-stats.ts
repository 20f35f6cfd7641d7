/** Figures of every optimiser step recomputed from its rows: losses, KL estimators, clip fraction. Rows of weight 0 did not enter the loss and are left out. */
import type { Pairs } from '../../../math/statistics.ts';
import { limits } from '../../limits.ts';
import type { Iteration } from '../iteration.ts';
import type { Numbers, Rows } from '../rows.ts';
import { stepKey } from './step-key.ts';
import { grownBy, narrowness, PairList, Sums } from './step-sums.ts';

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
  /** Log-probability times advantage, without a ratio. */
  plainLoss: number;
  meanAbsolute: number;
  /** What rounding may add to a loss. */
  noise: number;
  /** The farthest of its log-probabilities from 0. */
  largestLogp: number;
  /** Of all pairs of a ratio with an advantage. */
  outerLoss: number;
  k1: number;
  k2: number;
  k3: number;
  k1Error: number;
  /** From the distributions themselves, old to new and new to old; filled in where a reported KL is none of the estimates. */
  forwardKl?: number;
  backwardKl?: number;
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

export const defaultClip = 0.2;
interface Columns {
  own: Uint8Array;
  sample: Numbers;
  fresh: Numbers;
  used: Numbers | null;
  stored: Numbers | null;
  weight: Numbers | null;
  advantage: Numbers | null;
  /** The samples' own credit, where the loss's was not recorded: it tells whether a step follows it, and nothing about the loss. */
  credit: Numbers | null;
  entropy: Numbers | null;
  value: Numbers | null;
  target: Numbers | null;
  after: Numbers | null;
  logCount: Float64Array | null;
  /** What columns of half precision add to a row's part of the loss, relative to it. */
  narrow: number;
}

/** Whether a step found nothing undecided. Where no entropy is known, choices from a list that all have a probability of 1 show it. */
export const isCertain = ({ entropy, logCount, largestLogp }: StepStat): boolean =>
  entropy < limits.noEntropy.value || (Number.isNaN(entropy) && logCount > 0 && largestLogp < limits.certainLogp.value);

/** The clip range that settings declare, or the usual one. */
export function declaredClip({ run }: Iteration): number {
  return Number.isFinite(run.number('clip')) ? run.number('clip') : defaultClip;
}

export interface StepStats {
  whole: Map<number, StepStat>;
  /** The same where a reading is the mean of those of a step's two halves, as where gradients are accumulated over two passes. */
  halves: () => Map<number, StepStat>;
}

/** `clips` are the ranges in use by policy, where they are not the declared one; without `weighed` all rows count alike. */
export function stepStats(
  iteration: Iteration,
  clips: ReadonlyMap<number, number> = new Map(),
  weighed = true,
): StepStats {
  const { replays, samples, before } = iteration;
  if (!replays || !before) return { whole: new Map(), halves: () => new Map() };
  const epoch = replays.column('epoch')!;
  const minibatch = replays.column('minibatch')!;
  const columns: Columns = {
    own: iteration.own,
    sample: replays.column('sample')!,
    fresh: replays.measured('new_logp')!,
    used: replays.column('old_logp'),
    stored: samples?.measured('old_logp') ?? null,
    weight: weighed ? replays.column('weight') : null,
    advantage: replays.column('advantage'),
    credit: replays.column('advantage') ? null : (samples?.column('advantage') ?? null),
    entropy: replays.column('entropy'),
    value: replays.column('value'),
    target: replays.column('return'),
    after: replays.column('after_logp'),
    logCount: iteration.logCount,
    narrow: narrowness(iteration),
  };
  const steps = new Map<number, Sums>();
  const halved = new Map<number, Sums>();
  for (const { key, policy, from, middle, to } of stepRuns(replays)) {
    const step = steps.get(key) ?? new Sums(policy, epoch[from], minibatch[from], before[from] === 1);
    const byHalves = halved.get(key) ?? step.part();
    const [first, second] = [step.part(), step.part()];
    const clip = iteration.clipOf(key, clips);
    addRows(first, columns, from, middle, clip);
    addValues(first, columns, from, middle);
    addRows(second, columns, middle, to, clip);
    addValues(second, columns, middle, to);
    const both = (first.weight + second.weight) / 2;
    const apart = first.weight !== 0 && second.weight !== 0;
    for (const part of [first, second]) {
      step.take(part);
      byHalves.take(part, apart ? both / part.weight : 1);
    }
    if (step.rows === 0) continue;
    steps.set(key, step);
    halved.set(key, byHalves);
  }
  const finished = (all: ReadonlyMap<number, Sums>) =>
    new Map([...all].map(([key, sums]) => [key, finish(sums, columns)]));
  return { whole: finished(steps), halves: () => finished(halved) };
}

/** Rows that entered a loss, each with its step, old log-probability, log-ratio and weight, and whether it lies in the second half of all the step's rows. */
export function* replayedRows(
  iteration: Iteration,
): Generator<{ key: number; row: number; old: number; log: number; weight: number; second: boolean }> {
  const { replays, samples, own } = iteration;
  if (!replays) return;
  const weight = replays.column('weight');
  const sample = replays.column('sample')!;
  const fresh = replays.measured('new_logp')!;
  const used = replays.column('old_logp');
  const stored = samples?.measured('old_logp');
  for (const { key, from, middle, to } of stepRuns(replays))
    for (let row = from; row < to; row++) {
      const w = weight && !Number.isNaN(weight[row]) ? weight[row] : 1;
      if (w === 0) continue;
      const old =
        used && !Number.isNaN(used[row]) ? used[row] : own[row] === 1 && stored ? stored[sample[row]] : Number.NaN;
      yield { key, row, old, log: fresh[row] - old, weight: w, second: row >= middle };
    }
}

interface StepRun {
  key: number;
  policy: number;
  from: number;
  /** Where the second half begins. */
  middle: number;
  to: number;
}

/** Rows of one step mostly follow one another: where each such run begins and ends. */
function* stepRuns(replays: Rows): Generator<StepRun> {
  const epoch = replays.column('epoch')!;
  const minibatch = replays.column('minibatch')!;
  const policy = replays.column('policy');
  for (let from = 0, to = 0; from < replays.rows; from = to) {
    const who = policy ? policy[from] : 0;
    for (to = from + 1; to < replays.rows; to++)
      if (epoch[to] !== epoch[from] || minibatch[to] !== minibatch[from] || (policy && policy[to] !== who)) break;
    const middle = from + Math.ceil((to - from) / 2);
    yield { key: stepKey(epoch[from], minibatch[from], who), policy: who, from, middle, to };
  }
}

const [ratioList, changeList] = [new PairList(), new PairList()];

/** The doctor's longest loop, so sums are kept in variables of their own. */
function addRows(step: Sums, columns: Columns, from: number, to: number, clip: number): void {
  const { own, sample, fresh, used, stored, weight, advantage, credit, entropy, after, logCount } = columns;
  const { before } = step;
  const [ratios, changes] = [ratioList.begin(to - from), changeList.begin(to - from)];
  let rows = 0;
  let total = 0;
  let k1 = 0;
  let k2 = 0;
  let k3 = 0;
  let beyond = 0;
  let binding = 0;
  let small = 0;
  let large = 0;
  let loss = 0;
  let unclipped = 0;
  let plain = 0;
  let { logp } = step;
  let absolute = 0;
  let positive = 0;
  let negative = 0;
  let entropies = 0;
  let counts = 0;
  let after1 = 0;
  let after2 = 0;
  let after3 = 0;
  let [afterWeight, { largest }] = [0, step];
  for (let i = from; i < to; i++) {
    const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
    if (w === 0) continue;
    const here = own[i] === 1;
    const old = used && !Number.isNaN(used[i]) ? used[i] : here && stored ? stored[sample[i]] : Number.NaN;
    const log = fresh[i] - old;
    const grown = grownBy(log);
    const ratio = 1 + grown;
    rows++;
    total += w;
    k1 -= w * log;
    k2 += w * 0.5 * log * log;
    k3 += w * (grown - log);
    if (Math.abs(ratio - 1) > clip) beyond += w;
    const smaller = Math.min(ratio, 1 + clip);
    const larger = Math.max(ratio, 1 - clip);
    small += w * smaller;
    large += w * larger;
    if (advantage) {
      const a = advantage[i];
      loss -= w * (a > 0 ? smaller : larger) * a;
      unclipped -= w * ratio * a;
      plain -= w * fresh[i] * a;
      if (Math.abs(fresh[i]) > logp) logp = Math.abs(fresh[i]);
      absolute += w * Math.abs(a * ratio);
      if (a > 0) positive += w * a;
      else negative += w * a;
      if ((a > 0 && ratio > 1 + clip) || (a < 0 && ratio < 1 - clip)) binding += w;
      ratios.put(log, a);
    }
    if (credit && here) ratios.put(log, credit[sample[i]]);
    if (entropy) entropies += w * entropy[i];
    if (logCount && here) counts += w * logCount[sample[i]];
    // A probability is at most 1, so hardly a row needs it to be seen not to have moved farthest.
    if (!before && Math.abs(grown) > largest) {
      const moved = Math.exp(old) * Math.abs(grown);
      if (moved > largest) largest = moved;
    }
    if (!after || Number.isNaN(after[i])) continue;
    const whole = after[i] - old;
    const grownAfter = grownBy(whole);
    after1 -= w * whole;
    after2 += w * 0.5 * whole * whole;
    after3 += w * (grownAfter - whole);
    afterWeight += w;
    if (Math.abs(grownAfter - grown) > largest) {
      const moved = Math.exp(old) * Math.abs(grownAfter - grown);
      if (moved > largest) largest = moved;
    }
    if (advantage) changes.put(after[i] - fresh[i], advantage[i]);
  }
  ratios.end(step.ratioPairs);
  changes.end(step.changePairs);
  step.rows += rows;
  step.weight += total;
  step.k1 += k1;
  step.k2 += k2;
  step.k3 += k3;
  step.beyond += beyond;
  step.binding += binding;
  step.smaller += small;
  step.larger += large;
  step.loss += loss;
  step.unclipped += unclipped;
  step.plain += plain;
  step.logp = logp;
  step.absolute += absolute;
  step.positive += positive;
  step.negative += negative;
  step.entropy += entropies;
  step.logCount += counts;
  step.after1 += after1;
  step.after2 += after2;
  step.after3 += after3;
  step.afterWeight += afterWeight;
  step.largest = largest;
}

function addValues(step: Sums, { value, target, weight }: Columns, from: number, to: number): void {
  if (!value || !target) return;
  let v = 0;
  let v2 = 0;
  let t = 0;
  let t2 = 0;
  let loss = 0;
  for (let i = from; i < to; i++) {
    const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
    if (w === 0) continue;
    v += w * value[i];
    v2 += w * value[i] * value[i];
    t += w * target[i];
    t2 += w * target[i] * target[i];
    loss += w * (value[i] - target[i]) * (value[i] - target[i]);
  }
  step.value += v;
  step.value2 += v2;
  step.target += t;
  step.target2 += t2;
  step.valueLoss += loss;
}

function finish(s: Sums, { advantage, entropy, value, target, logCount, narrow }: Columns): StepStat {
  const w = s.weight;
  const known = (sum: number, column: unknown, whole = w) => (column ? sum / whole : Number.NaN);
  const variance = Math.max(0, (2 * s.k2) / w - (s.k1 / w) ** 2);
  return {
    policy: s.policy,
    epoch: s.epoch,
    minibatch: s.minibatch,
    rows: s.rows,
    weight: w,
    before: s.before,
    loss: known(s.loss, advantage),
    unclippedLoss: known(s.unclipped, advantage),
    plainLoss: known(s.plain, advantage),
    meanAbsolute: known(s.absolute, advantage),
    largestLogp: s.logp,
    noise: (limits.lossNoise.value + narrow) * known(s.absolute, advantage),
    outerLoss: known(-(s.smaller * s.positive + s.larger * s.negative) / w, advantage),
    k1: s.k1 / w,
    k2: s.k2 / w,
    k3: s.k3 / w,
    k1Error: Math.sqrt(variance / s.rows),
    after1: known(s.after1, s.afterWeight > 0, s.afterWeight),
    after2: known(s.after2, s.afterWeight > 0, s.afterWeight),
    after3: known(s.after3, s.afterWeight > 0, s.afterWeight),
    clipFraction: s.beyond / w,
    clipBinding: known(s.binding, advantage),
    entropy: known(s.entropy, entropy),
    logCount: known(s.logCount, logCount),
    valueLoss: known(s.valueLoss, value && target),
    outerValueLoss: known(s.value2 - (2 * s.value * s.target) / w + s.target2, value && target),
    largestMove: s.largest,
    ratioPairs: s.ratioPairs,
    changePairs: s.changePairs,
  };
}
