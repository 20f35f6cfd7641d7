/** Credit of which all that is below 0 was set to 0, after it was normalised. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class PositivePart implements CreditTransform {
  readonly id = 'positive-part';

  /** What falls below 0 depends on the normalisation, which the search lays through what is left. */
  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own);
  }

  describe(): string {
    return told('what is below 0 set to 0', '小于 0 的都置为 0');
  }
}
