/** The learning rate that each policy's optimiser really used. It may change from iteration to iteration; equal agents change together. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';

export interface LearningRates {
  /** By policy: mean over iterations of the rate relative to the mean of all policies in that iteration and role; NaN where unknown. */
  relative: number[];
  /** By role of the tensors, then by policy: the first and the last rate seen. */
  byRole: Record<string, { first: number[]; last: number[] }>;
  iterations: number;
}

export class RateWatch implements Watch<LearningRates> {
  private readonly sums: Float64Array;
  private readonly byRole: LearningRates['byRole'] = {};
  private seen = 0;

  constructor(
    private readonly policies: number,
    private readonly tensors: readonly { policy: number; role: string }[],
  ) {
    this.sums = new Float64Array(policies);
  }

  iteration({ tables }: Slice): void {
    const tensor = tables.tensors?.column('tensor');
    const rate = tables.tensors?.column('learning_rate');
    if (!tensor || !rate) return;
    // A schedule moves within an iteration, and tensors differ by role: the mean over all rows of a policy is comparable, row counts are not.
    const sum = new Float64Array(this.policies);
    const count = new Float64Array(this.policies);
    for (let row = 0; row < tensor.length; row++) {
      const own = this.tensors[tensor[row]];
      if (!own || Number.isNaN(rate[row])) continue;
      const unknown = () => new Array<number>(this.policies).fill(Number.NaN);
      this.byRole[own.role] ??= { first: unknown(), last: unknown() };
      const seen = this.byRole[own.role];
      if (Number.isNaN(seen.first[own.policy])) seen.first[own.policy] = rate[row];
      seen.last[own.policy] = rate[row];
      if (own.role === 'critic') continue;
      sum[own.policy] += rate[row];
      count[own.policy]++;
    }
    const means = Array.from(sum, (total, policy) => total / count[policy]);
    const known = means.filter((mean) => !Number.isNaN(mean));
    if (known.length < this.policies) return;
    const middle = known.reduce((a, b) => a + b, 0) / known.length;
    if (!(middle > 0)) return;
    this.seen++;
    means.forEach((mean, policy) => {
      this.sums[policy] += mean / middle;
    });
  }

  finish(): LearningRates {
    return {
      relative: Array.from(this.sums, (sum) => (this.seen > 0 ? sum / this.seen : Number.NaN)),
      byRole: this.byRole,
      iterations: this.seen,
    };
  }
}
