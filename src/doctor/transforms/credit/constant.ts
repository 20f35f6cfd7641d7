/** One number for all rows. */

import { told } from '../../../language/language.ts';
import { median } from '../../../math/statistics.ts';
import { gather } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class Constant implements CreditTransform {
  readonly id = 'constant';

  /** A constant is exact. */
  get strictness(): number {
    return limits.constantStrictness.value;
  }

  apply({ own, target, wrong }: CreditRows): Float64Array {
    return new Float64Array(own.length).fill(median(gather(target, wrong)));
  }

  describe(): string {
    return told('constant', '常数');
  }
}
