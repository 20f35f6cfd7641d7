/** Rows that were collected so many iterations before the update that used them. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class RowsOfIteration implements Transform {
  readonly id = 'rows-of-iteration';

  constructor(readonly before: number) {}

  describe(): string {
    return told(
      `rows collected ${this.before} iteration${this.before === 1 ? '' : 's'} earlier`,
      `${this.before} 次迭代以前收集的行`,
    );
  }
}
