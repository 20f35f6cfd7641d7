/** Running mean and spread of a policy's returns. The critic learns in units of spread 1; everything outside the critic's loss is in units of the rewards. */

/** An old batch fades once there are more than 1 / slowest of them, because a learning policy's returns move. */
const slowest = 0.05;
/** Returns that never vary would divide by 0. */
const leastSpread = 1e-5;

export class ValueNormaliser {
  mean = 0;
  spread = 1;
  private square = 0;
  private batches = 0;

  constructor(readonly enabled: boolean) {}

  /** Takes one batch of returns into account. Values of rows collected before stay what they were in units of the rewards. */
  learn(returns: ArrayLike<number>, count: number): void {
    if (!this.enabled || count === 0) return;
    let sum = 0;
    let squares = 0;
    for (let i = 0; i < count; i++) {
      sum += returns[i];
      squares += returns[i] * returns[i];
    }
    // A batch that is not finite is the guard's to report; it must not spoil every batch that follows.
    if (!Number.isFinite(squares)) return;
    this.batches++;
    const rate = Math.max(1 / this.batches, slowest);
    this.mean += rate * (sum / count - this.mean);
    this.square += rate * (squares / count - this.square);
    this.spread = Math.max(leastSpread, Math.sqrt(Math.max(0, this.square - this.mean * this.mean)));
  }

  /** From what the critic says to units of the rewards, in place. */
  toRewards(values: Float32Array, count: number): void {
    if (!this.enabled) return;
    for (let i = 0; i < count; i++) values[i] = values[i] * this.spread + this.mean;
  }

  /** From units of the rewards to what the critic learns. */
  toCritic(values: ArrayLike<number>, count: number, out: Float32Array): void {
    const { mean, spread } = this.enabled ? this : { mean: 0, spread: 1 };
    for (let i = 0; i < count; i++) out[i] = (values[i] - mean) / spread;
  }

  save(): number[] {
    return [this.mean, this.spread, this.square, this.batches];
  }

  load(saved: readonly number[]): void {
    [this.mean, this.spread, this.square, this.batches] = saved;
  }
}
