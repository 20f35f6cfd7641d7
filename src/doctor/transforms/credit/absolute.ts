/** Credit without its sign. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Absolute implements CreditTransform {
  readonly id = 'absolute';

  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own, Math.abs);
  }

  describe(): string {
    return told('absolute value', '绝对值');
  }
}
