/** Updates of which only the KL that the program reports is known, because their rows were not kept: it is believed where it is right wherever rows are known. */
import { mean } from '../../math/statistics.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { limits } from '../limits.ts';

interface Heard {
  /** Updates whose rows are known, and those of them whose KL is what the rows give. */
  known: number;
  right: number;
  lost: { iteration: number; kl: number } | null;
}

export class ReportedKl {
  private readonly policies = new Map<number, Heard>();

  /** An update of a policy with the k3 of its rows; NaN where none were kept. */
  see({ number, steps }: Iteration, policy: number, k3: number): void {
    const kl = steps?.column('approx_kl');
    if (!steps || !kl) return;
    const whose = steps.column('policy');
    const told = Array.from(kl).filter((value, i) => Number.isFinite(value) && (whose ? whose[i] : 0) === policy);
    if (told.length === 0) return;
    const own = this.policies.get(policy) ?? { known: 0, right: 0, lost: null };
    this.policies.set(policy, own);
    const reported = mean(told);
    if (Number.isFinite(k3)) {
      own.known++;
      if (Math.abs(reported - k3) <= limits.most.value * k3 + limits.logp.value) own.right++;
    } else if (reported > limits.lostPolicy.value) own.lost ??= { iteration: number, kl: reported };
  }

  /** The first update that left nothing of the policy it began with, by a report that has always been right. */
  lost(policy: number): { iteration: number; kl: number } | null {
    const own = this.policies.get(policy);
    return own && own.known >= 2 && own.right === own.known ? own.lost : null;
  }
}
