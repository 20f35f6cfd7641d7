/** The return in the advantage's place. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class ReturnForAdvantage implements CreditTransform {
  readonly id = 'return-for-advantage';

  apply({ iteration }: CreditRows): Float64Array | null {
    const returns = iteration.samples!.column('return');
    return returns && Float64Array.from(returns);
  }

  describe(): string {
    return told('the return in place of the advantage', '用回报代替了优势');
  }
}
