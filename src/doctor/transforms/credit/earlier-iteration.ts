/** Credit of the same row numbers in the iteration before. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class EarlierIteration implements CreditTransform {
  readonly id = 'earlier-iteration';

  apply({ own, earlier }: CreditRows): Float64Array | null {
    return earlier && Float64Array.from(own, (_, row) => earlier[row] ?? Number.NaN);
  }

  describe(): string {
    return told("the earlier iteration's advantages", '上一次迭代的优势');
  }
}
