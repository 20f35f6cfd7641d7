/** A reported number that is a running mean of what the steps give. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class Smoothed implements Transform {
  readonly id = 'smoothed';

  /** `keep`: the share of the number before that stays in the next. */
  constructor(readonly keep: number) {}

  describe(): string {
    return told(`running mean that keeps ${this.keep} of the one before`, `保留前一个值的 ${this.keep} 的滑动平均`);
  }
}
