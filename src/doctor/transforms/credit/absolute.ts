/** Credit without its sign, as it is or after its mean was taken off. */
import { told } from '../../../language/language.ts';
import { spread } from '../../../math/statistics.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Absolute implements CreditTransform {
  readonly id = 'absolute';

  apply({ own }: Pick<CreditRows, 'own'>): Float64Array {
    return Float64Array.from(own, Math.abs);
  }

  /** None where all have one sign: then nothing, or a turned sign, looks the same. */
  ways({ own }: Pick<CreditRows, 'own'>): Float64Array[] {
    const known = Float64Array.from(own).filter(Number.isFinite);
    const { mean } = spread(known);
    const plain = known.some((value) => value > 0) && known.some((value) => value < 0);
    return [...(plain ? [this.apply({ own })] : []), Float64Array.from(own, (value) => Math.abs(value - mean))];
  }

  describe(): string {
    return told('absolute value', '绝对值');
  }
}
