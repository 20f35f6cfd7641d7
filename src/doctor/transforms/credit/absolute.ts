/** Credit without its sign. */
import { type Language, told } from '../transform.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Absolute implements CreditTransform {
  readonly id = 'absolute';

  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own, Math.abs);
  }

  describe(language: Language): string {
    return told(language, 'absolute value', '绝对值');
  }
}
