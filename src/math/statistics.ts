/** Plain statistics over numeric arrays. NaN entries are left out, so an unknown figure never spoils a known one. */

export interface Spread {
  count: number;
  mean: number;
  /** Standard deviation of the population, not of the sample. */
  std: number;
}

export function spread(values: ArrayLike<number>, from = 0, to = values.length): Spread {
  let count = 0;
  let mean = 0;
  let squares = 0;
  for (let i = from; i < to; i++) {
    const value = values[i];
    if (Number.isNaN(value)) continue;
    count++;
    const change = value - mean;
    mean += change / count;
    squares += change * (value - mean);
  }
  return { count, mean: count > 0 ? mean : Number.NaN, std: count > 0 ? Math.sqrt(squares / count) : Number.NaN };
}

export function mean(values: ArrayLike<number>): number {
  return spread(values).mean;
}

export function median(values: ArrayLike<number>): number {
  return quantile(values, 0.5);
}

export function quantile(values: ArrayLike<number>, share: number): number {
  return quantiles(values, [share])[0];
}

/** Linear between the two nearest entries; NaN where there is none. Several cost one sort. */
export function quantiles(values: ArrayLike<number>, shares: readonly number[]): number[] {
  // By hand: `from` and `filter` took several times as long as the sort itself.
  const known = new Float64Array(values.length);
  let count = 0;
  for (let i = 0; i < values.length; i++) if (!Number.isNaN(values[i])) known[count++] = values[i];
  const sorted = known.subarray(0, count).sort();
  return shares.map((share) => {
    if (sorted.length === 0) return Number.NaN;
    const at = share * (sorted.length - 1);
    const low = Math.floor(at);
    const high = Math.ceil(at);
    return sorted[low] === sorted[high] ? sorted[low] : sorted[low] + (at - low) * (sorted[high] - sorted[low]);
  });
}

/** Sums of pairs, for a correlation or a line through them, without keeping the pairs. */
export class Pairs {
  count = 0;
  meanX = 0;
  meanY = 0;
  private xx = 0;
  private yy = 0;
  private xy = 0;

  add(x: number, y: number): void {
    // One division for both, on which no other pair waits.
    const share = 1 / ++this.count;
    const dx = x - this.meanX;
    const dy = y - this.meanY;
    this.meanX += dx * share;
    this.meanY += dy * share;
    this.xx += dx * (x - this.meanX);
    this.yy += dy * (y - this.meanY);
    this.xy += dx * (y - this.meanY);
  }

  /** The first so many of two lists, one pair after the other; sums are kept in variables of their own meanwhile. */
  addAll(x: Float64Array, y: Float64Array, pairs: number): void {
    let { count, meanX, meanY, xx, yy, xy } = this;
    for (let i = 0; i < pairs; i++) {
      const share = 1 / ++count;
      const dx = x[i] - meanX;
      const dy = y[i] - meanY;
      meanX += dx * share;
      meanY += dy * share;
      xx += dx * (x[i] - meanX);
      yy += dy * (y[i] - meanY);
      xy += dx * (y[i] - meanY);
    }
    Object.assign(this, { count, meanX, meanY, xx, yy, xy });
  }

  /** Pearson's correlation; NaN where either side does not vary. */
  get correlation(): number {
    return this.xx > 0 && this.yy > 0 ? this.xy / Math.sqrt(this.xx * this.yy) : Number.NaN;
  }

  get slope(): number {
    return this.xx > 0 ? this.xy / this.xx : Number.NaN;
  }

  get intercept(): number {
    return this.meanY - this.slope * this.meanX;
  }

  get spreadX(): number {
    return Math.sqrt(this.xx / Math.max(1, this.count));
  }

  get spreadY(): number {
    return Math.sqrt(this.yy / Math.max(1, this.count));
  }
}

/** Fisher's z of a correlation, in standard errors from 0. */
export function correlationZ(correlation: number, count: number): number {
  return count > 3 ? Math.atanh(Math.max(-0.999999, Math.min(0.999999, correlation))) * Math.sqrt(count - 3) : 0;
}

/** By Bernstein's inequality, the logarithm of the odds against a sum of independent numbers, or of steps of a martingale, of mean 0 being so far off; `greatest` is the largest of them. */
export function oddsAgainst({ sum, variance, greatest }: { sum: number; variance: number; greatest: number }): number {
  const off = Math.abs(sum);
  return off === 0 ? 0 : (off * off) / (2 * (variance + (off * greatest) / 3));
}

/** The first of so many places at which something holds that holds at every later one, too; their number where it holds at none. */
export function firstPlace(count: number, holds: (place: number) => boolean): number {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
