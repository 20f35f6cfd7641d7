/** Lists of the update as its forward pass used them. A program that masks in the update and records only its logits has the mask of its samples, provided that this gives the recorded log-probabilities: a mask that was forgotten is not made up for. */
import { budgets } from '../budgets.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { scoresOf } from '../evidence/temperature.ts';
import { limits } from '../limits.ts';
import { Distribution, Scores } from './scoring.ts';

class MaskedBySamples extends Scores {
  constructor(
    iteration: Iteration,
    usual: number,
    private readonly lender: Scores,
    private readonly sample: ArrayLike<number>,
  ) {
    super(iteration.replays!, usual);
    this.masks = lender.masks;
  }

  override maskAt(row: number): number {
    const own = this.sample[row];
    return this.lender.count(own) !== this.count(row) ? -1 : this.lender.maskAt(own);
  }
}

export function updateScores(iteration: Iteration): Scores {
  const plain = scoresOf(iteration, 'replays');
  const { samples, replays } = iteration;
  const action = samples?.column('action');
  if (!plain.logits || plain.legal || !samples || !replays || !action || !samples.list('legal')) return plain;
  const sample = replays.column('sample')!;
  const masked = new MaskedBySamples(iteration, plain.temperatureOf(0), scoresOf(iteration, 'samples'), sample);
  const fresh = replays.measured('new_logp')!;
  const distribution = new Distribution();
  let [looked, given, bare] = [0, 0, 0];
  const stride = Math.max(1, Math.floor(replays.rows / budgets.temperatureRows));
  for (let i = 0; i < replays.rows; i += stride) {
    if (iteration.own[i] === 0 || !(action[sample[i]] >= 0)) continue;
    const fits = (scores: Scores) =>
      Math.abs(distribution.of(scores, i, scores.temperatureOf(i), true).logp(action[sample[i]]) - fresh[i]) <
      limits.logp.value;
    looked++;
    if (fits(masked)) given++;
    if (fits(plain)) bare++;
  }
  return given > bare && given >= limits.nearlyAll.value * looked ? masked : plain;
}
