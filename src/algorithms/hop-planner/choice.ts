/** The Boltzmann-rational choice among the values that a search has found: exp(beta Q) / Z, with a share of random moves where there is one. What it was drawn from is what the row keeps. */
import type { Learner } from '../learner.ts';
import type { Asked } from '../play.ts';
import { drawn } from './moves.ts';

/** beta in units of the rewards, of one in units of the spread of returns. */
export const rationalityOf = (rationality: number, { normaliser }: Pick<Learner, 'normaliser'>): number =>
  rationality / Math.max(1e-6, normaliser.spread);

export class RationalChoice {
  private readonly policy: Float64Array;

  constructor(private readonly actions: number) {
    this.policy = new Float64Array(actions);
  }

  /** Chooses in row i among `values`, minus infinity where a move is illegal; returns the entropy of what was drawn from. */
  draw(
    values: Float64Array,
    i: number,
    scale: number,
    share: number,
    { out, uniforms }: Pick<Asked, 'out' | 'uniforms'>,
  ): number {
    const { policy, actions } = this;
    const at = i * actions;
    let most = Number.NEGATIVE_INFINITY;
    for (let a = 0; a < actions; a++) most = Math.max(most, values[at + a]);
    let sum = 0;
    let legal = 0;
    for (let a = 0; a < actions; a++) {
      policy[a] = Math.exp(scale * (values[at + a] - most));
      if (values[at + a] > Number.NEGATIVE_INFINITY) legal++;
      sum += policy[a];
    }
    let entropy = 0;
    for (let a = 0; a < actions; a++) {
      if (!(values[at + a] > Number.NEGATIVE_INFINITY)) {
        out.logits[at + a] = 0;
        continue;
      }
      policy[a] = ((1 - share) * policy[a]) / sum + share / legal;
      // In single precision, as it is kept.
      out.logits[at + a] = Math.max(-30, Math.log(policy[a]));
      entropy -= policy[a] > 0 ? policy[a] * Math.log(policy[a]) : 0;
    }
    out.action[i] = drawn(policy, actions, uniforms[i]);
    out.logp[i] = out.logits[at + out.action[i]];
    out.entropy[i] = entropy;
    return entropy;
  }
}
