/** Credit with its sign turned. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Sign implements CreditTransform {
  readonly id = 'sign';

  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own, (value) => -value);
  }

  describe(): string {
    return told('sign', '符号相反');
  }
}
