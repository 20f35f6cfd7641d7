/** Credit of the same row numbers in the iteration before. */
import { type Language, told } from '../transform.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class EarlierIteration implements CreditTransform {
  readonly id = 'earlier-iteration';

  apply({ own, earlier }: CreditRows): Float64Array | null {
    return earlier && Float64Array.from(own, (_, row) => earlier[row] ?? Number.NaN);
  }

  describe(language: Language): string {
    return told(language, "the earlier iteration's advantages", '上一次迭代的优势');
  }
}
