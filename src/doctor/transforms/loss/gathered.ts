/** The gradient of a step whose rows come in parts: what becomes of it where the parts are not brought together as their mean. */

import { told } from '../../../language/language.ts';
import { listOf } from '../../evidence/keys.ts';
import { endsOf } from '../../evidence/steps/slices.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import type { Transform } from '../transform.ts';

/** Added up without being divided, divided alike although one is much smaller, or the last one alone. */
export type Gathering = 'undivided' | 'alike' | 'last';
export const gatherings = ['undivided', 'alike', 'last'] as const;

export class Gathered implements Transform {
  readonly id = 'gathered';

  constructor(
    readonly how: Gathering,
    readonly parts: number,
  ) {}

  describe(): string {
    if (this.how === 'undivided')
      return told(
        `the means of ${this.parts} micro-batches added up, not divided by their number`,
        `${this.parts} 个微批的均值相加，没有除以其个数`,
      );
    if (this.how === 'alike')
      return told(
        `the mean of the means of ${this.parts} micro-batches, of which one has far fewer rows`,
        `${this.parts} 个微批均值的平均，其中一个的行数少得多`,
      );
    return told('the last micro-batch of the step alone', '只有该步的最后一个微批');
  }
}

/** The mean of some rows, their sum, or the mean of two halves' means where gradients are gathered over two passes and the second half begins at `middle`. */
export function averaged(values: readonly number[], weight: readonly number[], summed: boolean, middle = 0): number {
  const mean = (from: number, to: number) => {
    let [sum, total] = [0, 0];
    for (let i = from; i < to; i++) {
      sum += weight[i] * values[i];
      total += weight[i];
    }
    return summed ? sum : sum / total;
  };
  const end = values.length;
  return middle > 0 && middle < end ? (mean(0, middle) + mean(middle, end)) / 2 : mean(0, end);
}

/** A step's gradient as it was measured, by what clipping shortened it, and the rows that it should be the mean of. */
export interface GatheredStep {
  norm: number;
  scale: number;
  rows: { error: readonly number[]; weight: readonly number[] };
}

export interface Found {
  how: Gathering;
  parts: number;
  /** Rows of the smallest part beside those of the others. */
  smallest: number;
  fits: number;
  told: number;
  proof: ProofStore;
}

const slack = limits.lossRelative.value;

/** The way of bringing parts together that gives the steps which the mean over their rows does not; null where none does. `factor` is what the mean of the errors is multiplied by. */
export function findGathering(
  steps: readonly GatheredStep[],
  parts: number,
  pull: (error: number) => number,
  factor: number,
): Found | null {
  const groups = new Map<number, { step: GatheredStep; sums: Float64Array; weights: Float64Array }[]>();
  for (const step of steps) {
    const { error, weight } = step.rows;
    const [sums, weights] = [new Float64Array(error.length + 1), new Float64Array(error.length + 1)];
    for (let i = 0; i < error.length; i++) {
      sums[i + 1] = sums[i] + factor * weight[i] * pull(error[i]);
      weights[i + 1] = weights[i] + weight[i];
    }
    if (error.length >= parts && Number.isFinite(step.scale))
      listOf(groups, error.length).push({ step, sums, weights });
  }
  const best = (how: Gathering): Found | null => {
    const all: Found = { how, parts, smallest: 1, fits: 0, told: 0, proof: new ProofStore() };
    for (const [rows, group] of groups) {
      if (group.length < limits.fewestSteps.value) continue;
      const even = Math.ceil(rows / parts);
      let found: Found | null = null;
      // Without remainder a size gives so many parts up to this one.
      for (let size = even; size === even || (how !== 'undivided' && endsOf(rows, size).length === parts); size++) {
        const smallest = (rows - (endsOf(rows, size).length - 1) * size) / size;
        const own: Found = { how, parts, smallest, fits: 0, told: 0, proof: new ProofStore() };
        for (const { step, sums, weights } of group) {
          const alone = Math.abs((step.scale * sums[rows]) / weights[rows]);
          const given = givenBy(how, sums, weights, endsOf(rows, size)).map((value) => Math.abs(step.scale * value));
          const noise = limits.valueFormula.value * alone;
          const apart = (value: number) =>
            Math.abs(value - alone) > limits.apartFormulas.value * (slack * Math.max(value, alone) + noise);
          if (!given.every(apart)) continue;
          own.told++;
          const fitting = given.find((value) => Math.abs(step.norm - value) <= slack * value + noise);
          if (fitting === undefined) continue;
          own.fits++;
          own.proof.step(step.norm, alone, fitting);
        }
        if (!found || own.fits > found.fits) found = own;
      }
      if (!found) continue;
      all.fits += found.fits;
      all.told += found.told;
      all.smallest = Math.min(all.smallest, found.smallest);
      all.proof = found.fits > 0 ? found.proof : all.proof;
    }
    return all.fits >= limits.fewestSteps.value && all.fits >= limits.formulaExact.value * all.told ? all : null;
  };
  return gatherings.map(best).find((found) => found !== null) ?? null;
}

/** What a step's gradient is where its parts end there. */
function givenBy(how: Gathering, sums: Float64Array, weights: Float64Array, ends: readonly number[]): number[] {
  const part = (k: number) => {
    const [from, to] = [k === 0 ? 0 : ends[k - 1], ends[k]];
    return { sum: sums[to] - sums[from], weight: weights[to] - weights[from] };
  };
  if (how === 'last') {
    const { sum, weight } = part(ends.length - 1);
    return [sum / weights[weights.length - 1], sum / weight / ends.length, sum / weight];
  }
  const added = ends.reduce((total, _, k) => total + part(k).sum / part(k).weight, 0);
  return [how === 'undivided' ? added : added / ends.length];
}
