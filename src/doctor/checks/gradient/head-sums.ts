/** What the rows of some steps make of the head's bias, by the clipped surrogate and by every other formula. A head whose outputs are not the global actions is left out. */

import { budgets } from '../../budgets.ts';
import { type Iteration, stepKey } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { Distribution } from '../../pairing/scoring.ts';
import { updateScores } from '../../pairing/update-scores.ts';
import { type LossRow, lossForm, lossFormNames } from '../../transforms/loss/loss-formula.ts';
import { ClipScales } from './clip-scales.ts';

/** Pushes that are no formula's own: that of the surrogate, and those of all pairs with gains and with losses. */
const formsFrom = ['surrogate', 'gains', 'losses'].length;

/** A step whose head was measured: the length of its gradient, and by what clipping had shortened it. */
export interface HeadStep {
  norm: number;
  scale: number;
  size: number;
  policy: number;
}

/** What the rows of a step add up to in the head's bias: by the clipped surrogate, by all pairs of either sign, and by every other formula. */
export class Sums {
  readonly slopes = new Float64Array(formsFrom + lossFormNames.length);
  readonly pushes: Float64Array[];
  readonly entropy: Float64Array;
  gains = 0;
  losses = 0;
  weight = 0;
  rows = 0;
  broken = false;

  constructor(size: number) {
    this.pushes = Array.from(this.slopes, () => new Float64Array(size));
    this.entropy = new Float64Array(size);
  }

  /** By the formula of that place in the list. */
  ofForm(place: number): Float64Array {
    return this.pushes[formsFrom + place];
  }
}

export class HeadSums {
  private readonly distribution = new Distribution();
  /** Policy to the tensor that is its head's bias. */
  private readonly bias = new Map<number, { tensor: number; size: number }>();

  constructor(private readonly run: Run) {
    run.tensors.forEach(({ role, size, policy, name }, tensor) => {
      if (role === 'head' && /bias/i.test(name) && size > 1) this.bias.set(policy, { tensor, size });
    });
  }

  steps(iteration: Iteration): { step: HeadStep; sums: Sums | undefined }[] {
    const { replays, samples, tensors } = iteration;
    const gradient = tensors?.column('grad_norm');
    const advantage = replays?.column('advantage');
    const action = samples?.column('action');
    if (
      !replays ||
      !samples ||
      !tensors ||
      !gradient ||
      !advantage ||
      !action ||
      this.bias.size === 0 ||
      iteration.probed
    )
      return [];
    const scores = updateScores(iteration);
    if (!scores.logits) return [];
    const wanted = this.wanted(iteration, gradient);
    const epoch = replays.column('epoch')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const weight = replays.column('weight');
    const sample = replays.column('sample')!;
    const source = replays.column('source_iteration');
    const fresh = replays.measured('new_logp')!;
    const used = replays.column('old_logp');
    const stored = samples.measured('old_logp')!;
    const sums = new Map<number, Sums>();
    const row: LossRow = { log: 0, ratio: 1, advantage: 0, probability: 1, oldProbability: 1 };
    for (let i = 0; i < replays.rows; i++) {
      const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
      const key = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
      const step = wanted.get(key);
      if (w === 0 || !step) continue;
      const own = sums.get(key) ?? new Sums(step.size);
      sums.set(key, own);
      if (sample[i] >= samples.rows || (source && source[i] !== iteration.number && !Number.isNaN(source[i]))) {
        own.broken = true;
        continue;
      }
      own.rows++;
      own.weight += w;
      const temperature = scores.temperatureOf(i);
      const found = this.distribution.of(scores, i, temperature, true);
      // Without ids a row's candidates are the head's own outputs only where there are as many.
      if (!scores.subset && found.count !== step.size) {
        own.broken = true;
        continue;
      }
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[sample[i]];
      const ratio = Math.exp(fresh[i] - old);
      const a = advantage[i];
      row.log = fresh[i] - old;
      row.ratio = ratio;
      row.advantage = a;
      row.probability = Math.exp(fresh[i]);
      row.oldProbability = Math.exp(old);
      const clip = iteration.clipOf(key);
      const [low, high] = [ratio < 1 - clip, ratio > 1 + clip];
      const slopes = own.slopes;
      slopes[0] = (a > 0 && high) || (a < 0 && low) ? 0 : a * ratio;
      // Every ratio with every advantage: of each sign those that the clip leaves free.
      slopes[1] = high ? 0 : ratio;
      slopes[2] = low ? 0 : ratio;
      for (let f = 0; f < lossFormNames.length; f++)
        slopes[formsFrom + f] = lossForm(lossFormNames[f]).slope(row, clip);
      if (a > 0) own.gains += w * a;
      else own.losses += w * a;
      for (let c = 0; c < found.count; c++) {
        const id = scores.id(i, c);
        const p = found.probability(c);
        if (!(id < step.size) || !Number.isFinite(p)) {
          own.broken = true;
          break;
        }
        const towards = (w * ((c === action[sample[i]] ? 1 : 0) - p)) / temperature;
        for (let f = 0; f < slopes.length; f++) own.pushes[f][id] += slopes[f] * towards;
        if (p > 0) own.entropy[id] -= (w * p * (found.logp(c) + found.entropy)) / temperature;
      }
    }
    return [...wanted].map(([key, step]) => ({ step, sums: sums.get(key) }));
  }

  /** Steps of each policy that have a measured bias: those of the first iteration from its beginning, later ones spread over the update, where ratios have left the clip. */
  private wanted(iteration: Iteration, gradient: ArrayLike<number>) {
    const tensors = iteration.tensors!;
    const wanted = new Map<number, HeadStep>();
    const tensor = tensors.column('tensor')!;
    const epoch = tensors.column('epoch')!;
    const minibatch = tensors.column('minibatch')!;
    const shortened = new ClipScales(this.run, iteration);
    const measured = new Map<number, number[]>();
    for (let i = 0; i < tensors.rows; i++) {
      const info = this.run.tensors[tensor[i]];
      if (!info || this.bias.get(info.policy)?.tensor !== tensor[i]) continue;
      const rows = measured.get(info.policy);
      if (rows) rows.push(i);
      else measured.set(info.policy, [i]);
    }
    for (const [policy, rows] of measured) {
      const each = iteration.replays!.rows / Math.max(1, rows.length * measured.size);
      const most = Math.max(2, Math.min(budgets.headSteps, Math.floor(budgets.headRows / each)));
      const count = Math.min(iteration.number === 0 ? budgets.firstHeadSteps : most, rows.length);
      const apart = iteration.number === 0 || count < 2 ? 1 : (rows.length - 1) / (count - 1);
      for (let k = 0; k < count; k++) {
        const i = rows[Math.round(k * apart)];
        const key = stepKey(epoch[i], minibatch[i], policy);
        const scale = shortened.of(key);
        if (scale === null) continue;
        wanted.set(key, { norm: gradient[i], scale, size: this.bias.get(policy)!.size, policy });
      }
    }
    return wanted;
  }
}
