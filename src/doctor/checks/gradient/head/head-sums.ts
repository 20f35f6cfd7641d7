/** What the rows of some steps make of the head's bias, by the clipped surrogate and by every other formula. A head whose outputs are not those of the rows is left out. */

import { budgets } from '../../../budgets.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Run } from '../../../evidence/run.ts';
import { ClipScales } from '../../../evidence/steps/clip-scales.ts';
import { stepKey } from '../../../evidence/steps/step-key.ts';
import { type LossRow, lossForm, lossFormNames } from '../../../transforms/loss/loss-formula.ts';
import { type Outputs, outputsOf, type Reading, type Witness } from './head-outputs.ts';

/** Pushes that are no formula's own: that of the surrogate, and those of all pairs with gains and with losses. */
const formsFrom = ['surrogate', 'gains', 'losses'].length;

const forms = lossFormNames.map(lossForm);

/** A step whose head was measured: the length of its gradient, and by what clipping had shortened it. */
export interface HeadStep {
  norm: number;
  scale: number;
  size: number;
  policy: number;
  key: number;
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
  constructor(
    private readonly run: Run,
    private readonly reading: Reading,
  ) {}

  steps(iteration: Iteration): { step: HeadStep; sums: Sums | undefined }[] {
    const { replays, samples, tensors } = iteration;
    const gradient = tensors?.column('grad_norm');
    const advantage = replays?.column('advantage');
    if (!replays || !samples || !tensors || !gradient || !advantage || iteration.probed) return [];
    const outputs = outputsOf(iteration, this.reading);
    if (!outputs) return [];
    const wanted = this.wanted(iteration, gradient, outputs);
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
    let latest = Number.NaN;
    let step: HeadStep | undefined;
    let own: Sums | undefined;
    for (let i = 0; i < replays.rows; i++) {
      const key = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
      // Rows of one step mostly follow one another.
      if (key !== latest) [latest, step, own] = [key, wanted.get(key), sums.get(key)];
      const w = weight && !Number.isNaN(weight[i]) ? weight[i] : 1;
      if (w === 0 || !step) continue;
      if (!own) {
        own = new Sums(step.size);
        sums.set(key, own);
      }
      const elsewhere = source && source[i] !== iteration.number && !Number.isNaN(source[i]);
      if (own.broken || sample[i] >= samples.rows || elsewhere || !outputs.look(i, sample[i], step.size)) {
        own.broken = true;
        continue;
      }
      own.rows++;
      own.weight += w;
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
      for (let f = 0; f < forms.length; f++) slopes[formsFrom + f] = forms[f].slope(row, clip);
      if (a > 0) own.gains += w * a;
      else own.losses += w * a;
      for (let c = 0; c < outputs.count; c++) {
        const id = outputs.ids[c];
        const towards = w * outputs.towards[c];
        for (let f = 0; f < slopes.length; f++) own.pushes[f][id] += slopes[f] * towards;
        own.entropy[id] += w * outputs.entropy[c];
      }
    }
    return [...wanted].map(([key, step]) => ({ step, sums: sums.get(key) }));
  }

  /** Steps of each policy whose head was measured: those of the first iteration from its beginning, later ones spread over the update, where ratios have left the clip. */
  private wanted(iteration: Iteration, gradient: ArrayLike<number>, outputs: Outputs) {
    const tensors = iteration.tensors!;
    const wanted = new Map<number, HeadStep>();
    const [tensor, epoch, minibatch] = ['tensor', 'epoch', 'minibatch'].map((name) => tensors.column(name)!);
    const shortened = new ClipScales(this.run, iteration);
    const witnesses = new Map<number, Witness | null>();
    /** By policy and step, the squared length over the tensors that were measured, and how many those were. */
    const measured = new Map<number, Map<number, { square: number; count: number }>>();
    for (let i = 0; i < tensors.rows; i++) {
      const policy = this.run.tensors[tensor[i]]?.policy;
      if (policy === undefined) continue;
      if (!witnesses.has(policy)) witnesses.set(policy, outputs.witness(this.run, policy));
      if (!witnesses.get(policy)?.tensors.includes(tensor[i])) continue;
      const steps = measured.get(policy) ?? new Map<number, { square: number; count: number }>();
      measured.set(policy, steps);
      const key = stepKey(epoch[i], minibatch[i], policy);
      const { square, count } = steps.get(key) ?? { square: 0, count: 0 };
      steps.set(key, { square: square + gradient[i] ** 2, count: count + 1 });
    }
    for (const [policy, steps] of measured) {
      const { tensors: parts, size } = witnesses.get(policy)!;
      const whole = [...steps].filter(([, { count }]) => count === parts.length);
      const each = iteration.replays!.rows / Math.max(1, whole.length * measured.size);
      const most = Math.max(2, Math.min(budgets.headSteps, Math.floor(budgets.headRows / each)));
      const count = Math.min(iteration.number === 0 ? budgets.firstHeadSteps : most, whole.length);
      const apart = iteration.number === 0 || count < 2 ? 1 : (whole.length - 1) / (count - 1);
      for (let k = 0; k < count; k++) {
        const [key, { square }] = whole[Math.round(k * apart)];
        const scale = shortened.of(key);
        if (scale !== null) wanted.set(key, { norm: Math.sqrt(square), scale, size, policy, key });
      }
    }
    return wanted;
  }
}
