/** A log-probability of a continuous action was computed with numbers that were fitted to the rows: one deviation, or one line for the action, per dimension. */

import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import type { Transform } from '../transform.ts';

const shown = (values: readonly number[]) => values.map(figure).join(', ');

export class ScoredWith implements Transform {
  readonly id = 'scored-with';

  constructor(
    readonly side: 'old' | 'new',
    /** `times`: so many times the recorded deviation; `deviation`: this one for all rows; `line`: a line of the recorded action, that of the environment where there are two. */
    readonly what: 'times' | 'deviation' | 'line',
    /** Per dimension: the factor, the deviation, or the slope of the line. */
    readonly values: readonly number[],
    /** Where the lines begin. */
    readonly plus: readonly number[] = [],
  ) {}

  describe(): string {
    const [values, plus] = [shown(this.values), shown(this.plus)];
    if (this.what === 'line')
      return told(
        `the action as it was kept or given to the environment, times ${values}, plus ${plus}`,
        `保存的或环境得到的动作乘以 ${values} 再加 ${plus}`,
      );
    return this.what === 'times'
      ? told(`${values} times the recorded deviation, by dimension`, `各维标准差为所录的 ${values} 倍`)
      : told(`a deviation of ${values}, by dimension`, `各维标准差为 ${values}`);
  }
}
