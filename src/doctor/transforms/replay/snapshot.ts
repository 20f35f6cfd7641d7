/** Another of the recorded policies gives the stored log-probabilities: an earlier one, another agent's, or the row's own where the stored numbers are the odd ones. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class Snapshot implements Transform {
  readonly id = 'snapshot';
  declare readonly policy?: string;
  declare readonly before?: number;

  constructor({ policy, before }: { policy?: string; before?: number }) {
    if (policy !== undefined) this.policy = policy;
    if (before !== undefined) this.before = before;
  }

  describe(): string {
    if (this.before !== undefined)
      return told(
        `the policy of ${this.before} iteration${this.before === 1 ? '' : 's'} before`,
        `${this.before} 次迭代以前的策略`,
      );
    if (this.policy !== undefined) return told(`the policy of ${this.policy}`, `${this.policy} 的策略`);
    return told('the log-probability that the policy itself gives', '策略自身给出的对数概率');
  }
}
