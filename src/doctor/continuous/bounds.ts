/** Bounds of actions that were clipped, as they show in the actions themselves: a continuous number is never drawn twice. */
import type { Lists } from '../evidence/rows.ts';
import { limits } from '../limits.ts';

/** Extreme values of each dimension so far, and how many rows have the very same: several make it a bound. */
export class Bounds {
  private readonly at: { low: number; high: number; lows: number; highs: number }[] = [];

  see({ values, offsets }: Lists): void {
    const width = offsets[1] - offsets[0];
    while (this.at.length < width)
      this.at.push({ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY, lows: 0, highs: 0 });
    for (let row = 0; row < offsets.length - 1; row++)
      for (let d = 0; d < width; d++) {
        const value = values[offsets[row] + d];
        const own = this.at[d];
        if (value < own.low) [own.low, own.lows] = [value, 0];
        if (value > own.high) [own.high, own.highs] = [value, 0];
        if (value === own.low) own.lows++;
        if (value === own.high) own.highs++;
      }
  }

  /** Whether a row has a dimension at a bound. */
  holds({ values, offsets }: Lists, row: number): boolean {
    const ties = limits.boundTies.value;
    return this.at.some(({ low, high, lows, highs }, d) => {
      const value = values[offsets[row] + d];
      return (lows >= ties && value === low) || (highs >= ties && value === high);
    });
  }
}
