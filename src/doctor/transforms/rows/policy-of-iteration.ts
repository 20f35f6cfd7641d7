/** Rows that are new, drawn by the policy of so many iterations before. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class PolicyOfIteration implements Transform {
  readonly id = 'policy-of-iteration';

  constructor(readonly before: number) {}

  describe(): string {
    return told(
      `the policy of ${this.before} iteration${this.before === 1 ? '' : 's'} earlier`,
      `${this.before} 次迭代以前的策略`,
    );
  }
}
