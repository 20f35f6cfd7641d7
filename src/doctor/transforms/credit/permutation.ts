/** Each row uses the credit of some row of the batch: the one that comes nearest. It proves something only where it comes far nearer than chance would. */

import { told } from '../../../language/language.ts';
import { firstPlace } from '../../../math/statistics.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Permutation implements CreditTransform {
  readonly id = 'permutation';

  /** Some row of a large batch is always near. */
  get strictness(): number {
    return limits.permutedStrictness.value;
  }

  apply({ own, target }: Pick<CreditRows, 'own' | 'target'>): Float64Array {
    const pool = Float64Array.from(own)
      .filter((value) => Number.isFinite(value))
      .sort();
    return Float64Array.from(target, (value) => nearest(pool, value));
  }

  describe(): string {
    return told('a permutation of the rows', '行的一个排列');
  }
}

/** The entry of a sorted array that comes nearest; NaN where there is none. */
export function nearest(sorted: Float64Array, value: number): number {
  const low = firstPlace(sorted.length, (place) => !(sorted[place] < value));
  if (low === sorted.length) return sorted[low - 1] ?? Number.NaN;
  return low > 0 && value - sorted[low - 1] <= sorted[low] - value ? sorted[low - 1] : sorted[low];
}
