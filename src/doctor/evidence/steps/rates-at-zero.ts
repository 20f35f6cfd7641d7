/** Learning rates that a schedule brought to exactly 0 while the run went on, by policy. A schedule that ends with the run reaches 0 in its last steps alone. */

import { limits } from '../../limits.ts';
import type { Iteration } from '../iteration.ts';

interface Rates {
  told: number;
  /** Steps at rate 0 since the last other rate, and the iterations of the first and the last of them. */
  zero: number;
  onset: number;
  latest: number;
}

export class RatesAtZero {
  private readonly policies = new Map<number, Rates>();

  see({ steps, number }: Iteration): void {
    const rate = steps?.column('learning_rate');
    if (!steps || !rate) return;
    const policy = steps.column('policy');
    for (let i = 0; i < rate.length; i++) {
      if (Number.isNaN(rate[i])) continue;
      const who = policy ? policy[i] : 0;
      const own = this.policies.get(who) ?? { told: 0, zero: 0, onset: number, latest: number };
      this.policies.set(who, own);
      own.told++;
      if (own.zero === 0) own.onset = number;
      own.zero = rate[i] === 0 ? own.zero + 1 : 0;
      own.latest = number;
    }
  }

  /** Where the policy was once moved, most steps come after the end, and those in more iterations than one. */
  of(policy: number): Rates | null {
    const own = this.policies.get(policy);
    if (!own || own.zero === own.told || own.zero < limits.fewestSteps.value) return null;
    return own.zero > limits.most.value * own.told && own.latest > own.onset ? own : null;
  }
}
