/** What a log shows, before anything is concluded from it. Every symptom has a threshold that healthy logs stay clear of; a trend needs enough updates to be one. */
import { mean, median, spread } from '../../math/statistics.ts';
import { type Figures as Evidence, figure } from '../diagnosis.ts';
import type { Run } from '../run.ts';
import type { Figures, Owner } from './series.ts';

export type SymptomId =
  | 'non-finite'
  | 'learning-rate-zero'
  | 'gradient-zero'
  | 'kl-zero'
  | 'kl-tiny'
  | 'kl-high'
  | 'clip-high'
  | 'ratio-off'
  | 'kl-below-clip'
  | 'entropy-at-log-k'
  | 'entropy-rising'
  | 'entropy-collapsed'
  | 'value-worse-than-constant'
  | 'value-loss-blows-up'
  | 'advantage-flat'
  | 'advantage-one-sided'
  | 'return-falling';

export interface Seen {
  id: SymptomId;
  agent: number;
  metric: string;
  onset: number;
  sentence: string;
  measured: Evidence;
  expected: Evidence;
}

/** No trend is read from fewer updates than this. */
export const fewestUpdates = 20;

/** What several symptoms ask about one owner. */
export class View {
  readonly kl: Figures | undefined;
  readonly clip: Figures | undefined;
  readonly entropy: Figures | undefined;
  readonly returns: Figures | undefined;
  /** Optimiser steps per batch: 1, more (Infinity where only that is known), or NaN. */
  readonly stepsPerBatch: number;

  constructor(
    readonly owner: Owner,
    readonly run: Run,
  ) {
    this.kl = owner.get('kl') ?? owner.get('kl_k1');
    this.clip = owner.get('clip_fraction');
    this.entropy = owner.get('entropy');
    this.returns = owner.get('return', 10) ?? owner.get('evaluation_return', 10);
    this.stepsPerBatch = stepsPerBatch(owner, run);
  }

  /** Whether what episodes pay rose beyond doubt: over the log, or in its first updates and then stayed. */
  get improved(): boolean {
    const { returns } = this;
    if (!returns) return false;
    const range = returns.greatest - returns.least;
    const late = mean(returns.late);
    if (returns.rise > 3 && late - mean(returns.early) > 0.05 * range) return true;
    const first = mean(returns.values.slice(0, 3));
    return late - first > 0.3 * range && late - first > 3 * spread(returns.late).std;
  }

  /** An entropy of 0 all along: there is one thing to do, and no policy to move. */
  get nothingToChoose(): boolean {
    return this.entropy !== undefined && Math.max(Math.abs(this.entropy.least), Math.abs(this.entropy.greatest)) < 1e-6;
  }

  get entropyStill(): boolean {
    const { entropy } = this;
    if (!entropy) return false;
    return entropy.high - entropy.low <= 1e-3 * Math.max(0.1, Math.abs(entropy.median));
  }

  /** Entropy goes up and down with what is seen; a policy that moves shifts it. */
  get entropyShifts(): boolean {
    const { entropy } = this;
    if (!entropy || entropy.count < 10) return false;
    const shift = Math.abs(mean(entropy.late) - mean(entropy.early));
    return Math.abs(entropy.rise) > 4 && shift > 0.02 * Math.abs(entropy.median);
  }

  /** Whether anything says that the policy moves. */
  get moves(): boolean {
    if (this.improved) return true;
    const visible = this.kl !== undefined && this.kl.median > 1e-5;
    const clipped = this.clip !== undefined && this.clip.high > 0;
    return visible || clipped || this.entropyShifts;
  }
}

function stepsPerBatch(owner: Owner, run: Run): number {
  const [epochs, minibatches] = [run.number('epochs'), run.number('minibatches')];
  if (epochs * minibatches >= 1) return epochs * minibatches;
  if (epochs > 1 || minibatches > 1) return Number.POSITIVE_INFINITY;
  // Stable-Baselines3 counts the epochs of all updates so far.
  const updates = owner.get('updates', 3);
  if (!updates) return Number.NaN;
  const gaps = updates.values.slice(1).map((value, i) => value - updates.values[i]);
  return median(gaps) > 1 ? Number.POSITIVE_INFINITY : Number.NaN;
}

export function symptoms(view: View): Seen[] {
  const seen: Seen[] = [];
  const add = (id: SymptomId, from: Figures, onset: number, sentence: string, measured: Evidence, expected: Evidence) =>
    seen.push({ id, agent: view.owner.agent, metric: from.series.name, onset, sentence, measured, expected });
  notFinite(view, seen);
  if (!view.nothingToChoose) stillness(view, add);
  overshoot(view, add);
  entropies(view, add);
  critic(view, add);
  credit(view, add);
  return seen;
}

type Add = (
  id: SymptomId,
  from: Figures,
  onset: number,
  sentence: string,
  measured: Evidence,
  expected: Evidence,
) => void;

/** Explained variance and returns are NaN in healthy logs, where nothing varies or no episode has ended. */
const mustBeFinite = [
  'kl',
  'kl_k1',
  'entropy',
  'policy_loss',
  'value_loss',
  'loss',
  'ratio',
  'grad_norm',
  'policy_grad_norm',
];

function notFinite(view: View, seen: Seen[]): void {
  let first: Seen | undefined;
  for (const series of view.owner.all()) {
    if (!mustBeFinite.includes(series.metric)) continue;
    const bad = series.value.flatMap((value, i) => (Number.isFinite(value) ? [] : [i]));
    // Mixed precision skips a step whose gradient overflows; a loss that stays NaN does not come back.
    const lasting = bad.length > 0 && !Number.isFinite(series.value.at(-1)!);
    if (!lasting && (/grad/.test(series.metric) || bad.length < 3)) continue;
    const step = Number.isFinite(series.step[bad[0]]) ? series.step[bad[0]] : bad[0];
    if (first && first.onset <= step) continue;
    first = {
      id: 'non-finite',
      agent: view.owner.agent,
      metric: series.name,
      onset: step,
      sentence: `${series.name} is not a number in ${bad.length} of ${series.value.length} rows, first at step ${step}`,
      measured: { not_finite: bad.length, of: series.value.length, first_step: step },
      expected: { not_finite: 0 },
    };
  }
  if (first) seen.push(first);
}

function stillness(view: View, add: Add): void {
  const { owner, kl, clip } = view;
  const rate = owner.get('learning_rate', 3);
  if (rate && rate.share((value) => value === 0) >= 0.5)
    add(
      'learning-rate-zero',
      rate,
      rate.onset((value) => value === 0),
      `${rate.series.name} is 0 in ${percent(rate.share((value) => value === 0))} of the log`,
      { median: figure(rate.median) },
      { above: 0 },
    );
  const gradient = owner.get('policy_grad_norm') ?? owner.get('grad_norm');
  if (gradient && gradient.share((value) => Math.abs(value) < 1e-12) >= 0.9)
    add(
      'gradient-zero',
      gradient,
      gradient.onset((value) => value === 0),
      `${gradient.series.name} is 0: no gradient reaches what it measures`,
      { median: figure(gradient.median) },
      { above: 0 },
    );
  if (!kl || view.stepsPerBatch === 1) return;
  const size = median(kl.values.map(Math.abs));
  const clipped = clip !== undefined && clip.high > 0;
  if (size < 1e-7 && kl.share((value) => Math.abs(value) < 1e-6) >= 0.95 && !clipped)
    add(
      'kl-zero',
      kl,
      kl.onset(() => true),
      `${kl.series.name} is 0 in every update (median ${figure(size)})`,
      { median: figure(size), updates: kl.count },
      { above: 0 },
    );
  else if (size < 1e-5 && !clipped && !view.improved)
    add(
      'kl-tiny',
      kl,
      kl.onset(() => true),
      `${kl.series.name} has a median of ${figure(size)}: updates barely move the policy`,
      { median: figure(size), updates: kl.count },
      { usual: '1e-4 to 0.03' },
    );
}

function overshoot(view: View, add: Add): void {
  const { owner, kl, clip } = view;
  if (clip && clip.median > 0.6)
    add(
      'clip-high',
      clip,
      clip.onset((value) => value > 0.6),
      `${clip.series.name} has a median of ${figure(clip.median)}: most rows are clipped`,
      { median: figure(clip.median), first: figure(clip.values[0]) },
      { usual: '0 to 0.3' },
    );
  if (kl && kl.median > 0.3)
    add(
      'kl-high',
      kl,
      kl.onset((value) => value > 0.3),
      `${kl.series.name} has a median of ${figure(kl.median)}: the policy that is trained is far from the one that sampled`,
      { median: figure(kl.median), first: figure(kl.values[0]) },
      { usual: '0 to 0.05' },
    );
  const ratio = owner.get('ratio');
  if (ratio && Math.abs(ratio.median - 1) > 0.2)
    add(
      'ratio-off',
      ratio,
      ratio.onset((value) => Math.abs(value - 1) > 0.2),
      `${ratio.series.name} has a median of ${figure(ratio.median)} where a mean ratio is 1`,
      { median: figure(ratio.median) },
      { is: 1 },
    );
  const estimate = owner.get('kl', 10) ?? owner.get('kl_k1', 10);
  if (!estimate || !clip || clip.count < 10) return;
  const range = view.run.number('clip') > 0 ? view.run.number('clip') : (owner.get('clip_range', 1)?.median ?? 0.2);
  // A row beyond the range adds at least this to the mean of ratio - 1 - log ratio, so the two readings bound each other.
  const least = mean(clip.values) * (range - Math.log1p(range));
  const told = mean(estimate.values);
  if (mean(clip.values) > 0.01 && Math.abs(told) < 0.2 * least)
    add(
      'kl-below-clip',
      estimate,
      estimate.onset(() => true),
      `${clip.series.name} of ${figure(mean(clip.values))} makes the KL at least ${figure(least)}, and ${estimate.series.name} says ${figure(told)}`,
      { kl: figure(told), clip_fraction: figure(mean(clip.values)) },
      { kl_at_least: figure(least) },
    );
}

function entropies(view: View, add: Add): void {
  const { owner, entropy, improved } = view;
  const relative = owner.get('entropy_ratio', fewestUpdates);
  if (relative && relative.low >= 0.98 && !improved && relative.count >= 2 * fewestUpdates)
    add(
      'entropy-at-log-k',
      relative,
      relative.onset(() => true),
      `${relative.series.name} stays at ${figure(relative.median)}: the policy chooses blindly`,
      { median: figure(relative.median), updates: relative.count },
      { at_most: 0.98 },
    );
  if (!entropy || entropy.count < fewestUpdates) return;
  const [before, after] = [median(entropy.early), median(entropy.late)];
  const choices = Math.round(Math.exp(before));
  const still = view.stepsPerBatch !== 1 && view.kl !== undefined && median(view.kl.values.map(Math.abs)) < 1e-5;
  const near = choices >= 2 && choices <= 64 && Math.abs(entropy.median - Math.log(choices)) < 0.01 * Math.log(choices);
  if (!relative && near && after > 0.99 * before && !improved && (entropy.count >= 2 * fewestUpdates || still))
    add(
      'entropy-at-log-k',
      entropy,
      entropy.onset(() => true),
      `${entropy.series.name} stays at ${figure(entropy.median)}, which is log ${choices}: the policy chooses blindly among ${choices}`,
      { median: figure(entropy.median), log_k: figure(Math.log(choices)) },
      { falls: true },
    );
  if (after > 1.15 * Math.abs(before) + 0.02 && entropy.rise > 3 && !improved)
    add(
      'entropy-rising',
      entropy,
      entropy.onset((value) => value > before),
      `${entropy.series.name} rises from ${figure(before)} to ${figure(after)}`,
      { early: figure(before), late: figure(after) },
      { falls: true },
    );
  const gone = entropy.values.slice(0, Math.ceil(entropy.count / 4)).at(-1)!;
  if (
    entropy.values[0] > 0.05 &&
    entropy.least >= 0 &&
    gone < 0.05 * entropy.values[0] &&
    after < 0.05 * entropy.values[0] &&
    !improved
  )
    add(
      'entropy-collapsed',
      entropy,
      entropy.onset((value) => value < 0.05 * entropy.values[0]),
      `${entropy.series.name} falls from ${figure(entropy.values[0])} to ${figure(after)} in the first quarter of the log, and what episodes pay does not rise`,
      { first: figure(entropy.values[0]), late: figure(after) },
      { falls: 'slowly' },
    );
}

function critic(view: View, add: Add): void {
  const { owner, improved, returns } = view;
  // A critic begins worse than a constant, and with few steps per batch it takes a while.
  const explained = owner.get('explained_variance', 2 * fewestUpdates);
  if (explained && median(explained.half) < -0.1 && explained.rise < 3 && !improved)
    add(
      'value-worse-than-constant',
      explained,
      explained.onset((value) => value < 0),
      `${explained.series.name} has a median of ${figure(median(explained.half))} in the second half: the critic is worse than a constant`,
      { late: figure(median(explained.half)) },
      { at_least: 0 },
    );
  const loss = owner.get('value_loss', fewestUpdates);
  if (!loss || improved) return;
  const [before, after] = [median(loss.early), median(loss.late)];
  // The loss goes with the square of the returns, so returns that grow excuse it.
  const scale = returns
    ? Math.max(1, (mean(returns.late.map(Math.abs)) / Math.max(1e-9, mean(returns.early.map(Math.abs)))) ** 2)
    : 1;
  if (before > 0 && after > 100 * scale * before)
    add(
      'value-loss-blows-up',
      loss,
      loss.onset((value) => value > 100 * before),
      `${loss.series.name} grows from ${figure(before)} to ${figure(after)}`,
      { early: figure(before), late: figure(after) },
      { falls: true },
    );
}

function credit(view: View, add: Add): void {
  const { owner, returns } = view;
  const spreads = owner.get('advantage_std');
  if (spreads && spreads.share((value) => Math.abs(value) < 1e-8) >= 0.9)
    add(
      'advantage-flat',
      spreads,
      spreads.onset((value) => Math.abs(value) < 1e-8),
      `${spreads.series.name} is 0: every row has the same advantage`,
      { median: figure(spreads.median) },
      { above: 0 },
    );
  const without = owner.get('groups_without_signal', fewestUpdates);
  if (without && without.median > 0.95)
    add(
      'advantage-flat',
      without,
      without.onset((value) => value > 0.95),
      `${without.series.name} is ${figure(without.median)}: almost no group has answers of different reward`,
      { median: figure(without.median) },
      { at_most: 0.9 },
    );
  const means = owner.get('advantage_mean', fewestUpdates);
  if (
    means &&
    spreads &&
    spreads.median > 1e-8 &&
    (means.least > 0 || means.greatest < 0) &&
    Math.abs(means.median) > 3 * spreads.median
  )
    add(
      'advantage-one-sided',
      means,
      means.onset(() => true),
      `${means.series.name} is ${figure(means.median)} with a spread of ${figure(spreads.median)}: all advantages have one sign`,
      { mean: figure(means.median), spread: figure(spreads.median) },
      { mean: 'within the spread' },
    );
  if (!returns || returns.count < fewestUpdates) return;
  const range = returns.greatest - returns.least;
  const gap = mean(returns.early) - mean(returns.late);
  // Worse than at the very start, and never better in between.
  const later = returns.values.slice(Math.floor(returns.count / 5)).reduce((a, b) => Math.max(a, b));
  if (returns.rise < -5 && gap > 0.3 * range && later <= returns.early.reduce((a, b) => Math.max(a, b)))
    add(
      'return-falling',
      returns,
      returns.onset((value) => value < mean(returns.early) - 0.3 * range),
      `${returns.series.name} falls from ${figure(mean(returns.early))} to ${figure(mean(returns.late))}, below where it began`,
      { early: figure(mean(returns.early)), late: figure(mean(returns.late)) },
      { rises: true },
    );
}

const percent = (share: number) => `${figure(100 * share)} %`;
