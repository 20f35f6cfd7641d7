/** The KL of the update's distributions from those that were sampled from, computed from the distributions themselves: what many programs report in place of an estimate from the chosen actions. Known only where both passes recorded theirs. */
import { type Family, familyOf, lawsOf } from '../../continuous/laws.ts';
import { Distribution } from '../../pairing/scoring.ts';
import { updateScores } from '../../pairing/update-scores.ts';
import type { Iteration } from '../iteration.ts';
import { scoresOf } from '../temperature.ts';
import { replayedRows } from './step-stats.ts';

/** Of one row: the mean under the old distribution, and under the new one, of how far the logarithms are apart. */
type RowDivergence = (row: number, sample: number) => readonly [number, number] | null;

/** Writes each step's means into its figures; a step with a row whose distributions are not both known has none. */
export function fillDivergences(iteration: Iteration): void {
  const between = divergenceOf(iteration);
  const sample = iteration.replays?.column('sample');
  if (!between || !sample) return;
  const sums = new Map<number, [forward: number, backward: number]>();
  for (const { key, row, weight } of replayedRows(iteration)) {
    const [forward, backward] = sums.get(key) ?? [0, 0];
    const own = (iteration.own[row] === 1 && between(row, sample[row])) || [Number.NaN, Number.NaN];
    sums.set(key, [forward + weight * own[0], backward + weight * own[1]]);
  }
  for (const [key, [forward, backward]] of sums) {
    const stat = iteration.stats.get(key);
    if (stat) [stat.forwardKl, stat.backwardKl] = [forward / stat.weight, backward / stat.weight];
  }
}

function divergenceOf(iteration: Iteration): RowDivergence | null {
  const { samples, replays } = iteration;
  if (!samples || !replays) return null;
  if (samples.list('logits') && replays.list('logits')) return ofChoices(iteration);
  const family = familyOf(samples);
  return typeof family === 'string' ? ofLaws(iteration, family) : null;
}

function ofChoices(iteration: Iteration): RowDivergence {
  const [sampled, updated] = [scoresOf(iteration, 'samples'), updateScores(iteration)];
  const [old, fresh] = [new Distribution(), new Distribution()];
  return (row, sample) => {
    if (sampled.count(sample) !== updated.count(row)) return null;
    old.of(sampled, sample, sampled.temperatureOf(sample), true);
    fresh.of(updated, row, updated.temperatureOf(row), true);
    let [forward, backward] = [0, 0];
    for (let i = 0; i < old.count; i++) {
      const apart = old.logp(i) - fresh.logp(i);
      if (old.probability(i) > 0) forward += old.probability(i) * apart;
      if (fresh.probability(i) > 0) backward -= fresh.probability(i) * apart;
    }
    return [forward, backward];
  };
}

function ofLaws(iteration: Iteration, family: Family): RowDivergence {
  const [sampled, updated] = [lawsOf(iteration.samples, family), lawsOf(iteration.replays, family)];
  return (row, sample) => {
    const [old, fresh] = [sampled(sample), updated(row)];
    if (!old || !fresh || old.width !== fresh.width) return null;
    let [forward, backward] = [0, 0];
    for (let d = 0; d < old.width; d++) {
      forward += old.divergence(d, fresh);
      backward += fresh.divergence(d, old);
    }
    return [forward, backward];
  };
}
