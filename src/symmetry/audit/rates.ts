/** The learning rate that each policy's optimiser really used. It may change from iteration to iteration; equal agents change together. */
import type { Slice } from '../../doctor/evidence/stream.ts';
import type { Watch } from './audit.ts';

export interface LearningRates {
  /** By policy: mean over iterations of the rate relative to the mean of all policies in that iteration and role; NaN where unknown. */
  relative: number[];
  /** By policy: the first rate seen. */
  first: number[];
  iterations: number;
}

export class RateWatch implements Watch<LearningRates> {
  private readonly sums: Float64Array;
  private readonly first: number[];
  private seen = 0;

  constructor(
    private readonly policies: number,
    private readonly tensors: readonly { policy: number; role: string }[],
  ) {
    this.sums = new Float64Array(policies);
    this.first = new Array<number>(policies).fill(Number.NaN);
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
      if (!own || own.role === 'critic' || Number.isNaN(rate[row])) continue;
      sum[own.policy] += rate[row];
      count[own.policy]++;
      if (Number.isNaN(this.first[own.policy])) this.first[own.policy] = rate[row];
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
      first: this.first,
      iterations: this.seen,
    };
  }
}
