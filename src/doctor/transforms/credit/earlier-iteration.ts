/** Credit, or the critic's target, of the same row numbers in the iteration before. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class EarlierIteration implements CreditTransform {
  readonly id = 'earlier-iteration';

  constructor(readonly column: 'advantage' | 'return' = 'advantage') {}

  apply({ own, earlier }: Pick<CreditRows, 'own' | 'earlier'>): Float64Array | null {
    return earlier && Float64Array.from(own, (_, row) => earlier[row] ?? Number.NaN);
  }

  describe(): string {
    return this.column === 'return'
      ? told("the earlier iteration's returns", '上一次迭代的回报')
      : told("the earlier iteration's advantages", '上一次迭代的优势');
  }
}
