/**
 * Running mean and spread of a policy's returns. The critic learns in units of spread 1; everything outside its loss is in units of the rewards.
 * They change only between iterations, so the values of a batch and of its update are in the same units.
 */

/** An old batch fades once there are more than 1 / slowest of them, because a learning policy's returns move. */
const slowest = 0.05;

export class ValueNormaliser {
  mean = 0;
  spread = 1;
  private square = 0;
  private batches = 0;

  constructor(readonly enabled: boolean) {}

  /** Whether it has not seen a return yet. */
  get fresh(): boolean {
    return this.enabled && this.batches === 0;
  }

  /** Takes one batch of returns into account, in units of the rewards. */
  learn(returns: ArrayLike<number>, count: number): void {
    let mean = 0;
    let square = 0;
    for (let i = 0; i < count; i++) {
      mean += returns[i] / count;
      square += (returns[i] * returns[i]) / count;
    }
    this.follow(mean, square, count);
  }

  /** The same for returns that `toCritic` has already turned into the critic's units. */
  learnFromCritic(returns: ArrayLike<number>, count: number): void {
    const { mean, spread } = this;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < count; i++) {
      const value = returns[i] * spread + mean;
      sum += value / count;
      squares += (value * value) / count;
    }
    this.follow(sum, squares, count);
  }

  /** From what the critic says to units of the rewards, in place. */
  toRewards(values: Float32Array, count: number): void {
    if (!this.enabled) return;
    for (let i = 0; i < count; i++) values[i] = values[i] * this.spread + this.mean;
  }

  /** From units of the rewards to what the critic learns. */
  toCritic(values: ArrayLike<number>, count: number, out: Float32Array): void {
    for (let i = 0; i < count; i++) out[i] = (values[i] - this.mean) / this.spread;
  }

  save(): number[] {
    return [this.mean, this.spread, this.square, this.batches];
  }

  load(saved: readonly number[]): void {
    [this.mean, this.spread, this.square, this.batches] = saved;
  }

  private follow(mean: number, square: number, count: number): void {
    // A batch that is not finite is the guard's to report; it must not spoil every batch that follows.
    if (!this.enabled || count === 0 || !Number.isFinite(square)) return;
    this.batches++;
    const rate = Math.max(1 / this.batches, slowest);
    this.mean += rate * (mean - this.mean);
    this.square += rate * (square - this.square);
    const variance = this.square - this.mean * this.mean;
    // Returns that do not vary, as before the first reward, say nothing about the spread to come.
    this.spread = variance > 1e-10 * this.square ? Math.sqrt(variance) : 1;
  }
}
