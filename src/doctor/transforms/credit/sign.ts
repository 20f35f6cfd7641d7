/** Credit with its sign turned. */
import { type Language, told } from '../transform.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Sign implements CreditTransform {
  readonly id = 'sign';

  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own, (value) => -value);
  }

  describe(language: Language): string {
    return told(language, 'sign', '符号相反');
  }
}
