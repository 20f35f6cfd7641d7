/** A choice among a row's candidates: a masked softmax of its local logits. An action is an index into the row's own candidates, never a global id. */
import { type LocalPolicy, localPolicy, localPolicyBuffer, sampleIndex } from '../../math/local-policy.ts';
import type { ActionKind, Actions, Distribution, Floats } from '../distribution.ts';

export const choice: ActionKind = {
  name: 'categorical',
  width: 1,
  draws: 1,
  array: Int32Array,
};

export class Categorical implements Distribution {
  readonly name = choice.name;
  readonly width = choice.width;
  readonly draws = choice.draws;
  readonly array = choice.array;
  entropy = 0;
  private count = 0;
  private temperature = 1;
  private local: LocalPolicy = localPolicyBuffer(32);

  look(outputs: Floats, legal: Uint8Array | null, temperature: number): void {
    this.count = outputs.length;
    this.temperature = temperature;
    if (this.local.probabilities.length < this.count) this.local = localPolicyBuffer(2 * this.count);
    this.entropy = localPolicy(outputs, null, legal, temperature, this.local);
  }

  sample(draws: ArrayLike<number>, at: number, actions: Actions, row: number): void {
    actions[row] = Math.max(0, sampleIndex(this.local.probabilities, draws[at], 0, this.count));
  }

  logp(actions: Actions, row: number): number {
    const action = actions[row];
    return action >= 0 && action < this.count ? this.local.logProbabilities[action] : -Infinity;
  }

  /** Of the logits: log p(a) falls by p and rises by 1 at a itself; the entropy falls by p (log p + entropy). */
  gradient(actions: Actions, row: number, byLogp: number, byEntropy: number, out: Float64Array): void {
    const { probabilities, logProbabilities } = this.local;
    for (let i = 0; i < this.count; i++) {
      const p = probabilities[i];
      const log = logProbabilities[i];
      // An illegal candidate has log-probability minus infinity, and no gradient.
      if (log === -Infinity) out[i] = 0;
      else {
        const own = i === actions[row] ? 1 : 0;
        const spread = p > 0 ? p * (log + this.entropy) : 0;
        out[i] = (byLogp * (own - p) - byEntropy * spread) / this.temperature;
      }
    }
  }
}
