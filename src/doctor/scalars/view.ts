/** What several symptoms ask about one agent's figures: does the policy move, did it get better, how many steps are in a batch. */
import { mean, median, spread } from '../../math/statistics.ts';
import type { Run } from '../evidence/run.ts';
import { logLimits } from '../limits.ts';
import type { Figures, Owner } from './series.ts';

const { few, many } = logLimits;

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
    this.kl = owner.get('kl', few.value) ?? owner.get('kl_k1', few.value);
    this.clip = owner.get('clip_fraction', few.value);
    this.entropy = owner.get('entropy', few.value);
    this.returns = owner.get('return', many.value) ?? owner.get('evaluation_return', many.value);
    this.stepsPerBatch = stepsPerBatch(owner, run);
  }

  /** Whether what episodes pay rose beyond doubt: over the log, or in its first updates and then stayed. */
  get improved(): boolean {
    const { returns } = this;
    if (!returns) return false;
    const range = returns.greatest - returns.least;
    const late = mean(returns.late);
    if (returns.rise > logLimits.rise.value && late - mean(returns.early) > logLimits.riseShare.value * range)
      return true;
    const first = mean(returns.values.slice(0, few.value));
    const { soonShare, soonSpreads } = logLimits;
    return late - first > soonShare.value * range && late - first > soonSpreads.value * spread(returns.late).std;
  }

  /** An entropy of 0 all along: there is one thing to do, and no policy to move. */
  get nothingToChoose(): boolean {
    const { entropy } = this;
    return (
      entropy !== undefined && Math.max(Math.abs(entropy.least), Math.abs(entropy.greatest)) < logLimits.noEntropy.value
    );
  }

  get entropyStill(): boolean {
    const { entropy } = this;
    if (!entropy) return false;
    const { entropyStill, entropyFloor } = logLimits;
    return entropy.high - entropy.low <= entropyStill.value * Math.max(entropyFloor.value, Math.abs(entropy.median));
  }

  /** Entropy goes up and down with what is seen; a policy that moves shifts it. */
  get entropyShifts(): boolean {
    const { entropy } = this;
    if (!entropy || entropy.count < many.value) return false;
    const shift = Math.abs(mean(entropy.late) - mean(entropy.early));
    const { entropyShift, entropyShifted } = logLimits;
    return Math.abs(entropy.rise) > entropyShift.value && shift > entropyShifted.value * Math.abs(entropy.median);
  }

  /** Whether anything says that the policy moves. */
  get moves(): boolean {
    if (this.improved) return true;
    const visible = this.kl !== undefined && this.kl.median > logLimits.tinyKl.value;
    const clipped = this.clip !== undefined && this.clip.high > 0;
    return visible || clipped || this.entropyShifts;
  }

  /** How much larger the squared returns are late in the log than early: what a value loss may grow by. */
  get returnsGrew(): number {
    const { returns } = this;
    if (!returns) return 1;
    const size = (values: number[]) => Math.max(1e-9, mean(values.map(Math.abs)));
    return Math.max(1, (size(returns.late) / size(returns.early)) ** 2);
  }
}

function stepsPerBatch(owner: Owner, run: Run): number {
  const [epochs, minibatches] = [run.number('epochs'), run.number('minibatches')];
  if (epochs * minibatches >= 1) return epochs * minibatches;
  if (epochs > 1 || minibatches > 1) return Number.POSITIVE_INFINITY;
  // Stable-Baselines3 counts the epochs of all updates so far.
  const updates = owner.get('updates', few.value);
  if (!updates) return Number.NaN;
  const gaps = updates.values.slice(1).map((value, i) => value - updates.values[i]);
  return median(gaps) > 1 ? Number.POSITIVE_INFINITY : Number.NaN;
}
