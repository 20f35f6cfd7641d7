/** Policy losses that programs compute in place of the clipped surrogate, each by what a row adds to it and by its slope in the row's log-probability. What is added is to be raised: the loss is minus its mean. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

/** One row as the loss sees it. */
export interface LossRow {
  /** Log-probability of the update minus the old one, and its exponential. */
  log: number;
  ratio: number;
  advantage: number;
  /** Probability of the action in the update, and when it was sampled. */
  probability: number;
  oldProbability: number;
}

interface Form {
  en: string;
  zh: string;
  value(row: LossRow, clip: number): number;
  slope(row: LossRow, clip: number): number;
  /** Healthy programs print it beside a gradient that is right, so only the gradient proves it. */
  byGradient?: true;
}

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);
/** Slope of the smaller of x A and clamp(x) A, where x has the slope `of`; the clamped one is flat. */
const smaller = (x: number, low: number, high: number, a: number, of: number) =>
  x * a <= clamp(x, low, high) * a ? of * a : 0;

export const lossForms = {
  larger: {
    en: 'the larger of the ratio and its clipped form, times the advantage, where the smaller is meant',
    zh: '取比率与其裁剪值乘优势的较大者，而应取较小者',
    value: ({ ratio, advantage: a }, c) => Math.max(ratio * a, clamp(ratio, 1 - c, 1 + c) * a),
    slope: ({ ratio, advantage: a }, c) => (ratio * a >= clamp(ratio, 1 - c, 1 + c) * a ? ratio * a : 0),
  },
  'clipped-alone': {
    en: 'the clipped ratio times the advantage alone, without the minimum',
    zh: '只有裁剪后的比率乘优势，没有取较小者',
    value: ({ ratio, advantage: a }, c) => clamp(ratio, 1 - c, 1 + c) * a,
    slope: ({ ratio, advantage: a }, c) => (Math.abs(ratio - 1) <= c ? ratio * a : 0),
  },
  'smaller-ratio': {
    en: 'the smaller of the ratio and its clipped form, and only then times the advantage',
    zh: '先取比率与其裁剪值的较小者，再乘优势',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio, 1 + c) * a,
    slope: ({ ratio, advantage: a }, c) => (ratio <= 1 + c ? ratio * a : 0),
  },
  'upper-clip-at-1': {
    en: 'the ratio clipped between 1 - clip and 1',
    zh: '比率裁剪在 1 - clip 与 1 之间',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, clamp(ratio, 1 - c, 1) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(ratio, 1 - c, 1, a, ratio),
  },
  'lower-clip-at-1': {
    en: 'the ratio clipped between 1 and 1 + clip',
    zh: '比率裁剪在 1 与 1 + clip 之间',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, clamp(ratio, 1, 1 + c) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(ratio, 1, 1 + c, a, ratio),
  },
  'upper-clip-alone': {
    en: 'the ratio clipped at 1 + clip alone, and not at 1 - clip',
    zh: '比率只在 1 + clip 处裁剪，没有在 1 - clip 处裁剪',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, Math.min(ratio, 1 + c) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(ratio, 0, 1 + c, a, ratio),
  },
  'lower-clip-alone': {
    en: 'the ratio clipped at 1 - clip alone, and not at 1 + clip',
    zh: '比率只在 1 - clip 处裁剪，没有在 1 + clip 处裁剪',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, Math.max(ratio, 1 - c) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(ratio, 1 - c, Number.POSITIVE_INFINITY, a, ratio),
  },
  'clip-of-product': {
    en: 'ratio times advantage clipped as a whole, where the ratio alone is meant',
    zh: '把比率乘优势作为整体裁剪，而应只裁剪比率',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, clamp(ratio * a, 1 - c, 1 + c)),
    slope: ({ ratio, advantage: a }, c) => (ratio * a <= 1 + c ? ratio * a : 0),
  },
  'clip-around-0': {
    en: 'the ratio clipped between -clip and clip, where 1 - clip and 1 + clip are meant',
    zh: '比率裁剪在 -clip 与 clip 之间，而应在 1 - clip 与 1 + clip 之间',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, clamp(ratio, -c, c) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(ratio, -c, c, a, ratio),
  },
  'clip-bounds-swapped': {
    en: 'the clip with its bounds swapped, so that every ratio becomes 1 - clip',
    zh: '裁剪的上下界写反，每个比率都成为 1 - clip',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, (1 - c) * a),
    slope: ({ ratio, advantage: a }, c) => (ratio * a <= (1 - c) * a ? ratio * a : 0),
  },
  unclipped: {
    en: 'the ratio times the advantage without any clip',
    zh: '比率乘优势，完全没有裁剪',
    value: ({ ratio, advantage: a }) => ratio * a,
    slope: ({ ratio, advantage: a }) => ratio * a,
    byGradient: true,
  },
  'log-ratio': {
    en: 'new - old log-probability in place of the ratio, which is its exponential',
    zh: '用新旧对数概率之差代替比率，缺少 exp',
    value: ({ log, advantage: a }, c) => Math.min(log * a, clamp(log, 1 - c, 1 + c) * a),
    slope: ({ log, advantage: a }, c) => smaller(log, 1 - c, 1 + c, a, 1),
  },
  'log-ratio-clipped': {
    en: 'new - old log-probability in place of the ratio, clipped around 0',
    zh: '用新旧对数概率之差代替比率，并在 0 附近裁剪',
    value: ({ log, advantage: a }, c) => Math.min(log * a, clamp(log, -c, c) * a),
    slope: ({ log, advantage: a }, c) => smaller(log, -c, c, a, 1),
  },
  'linear-ratio': {
    en: '1 + new - old log-probability in place of the ratio, which is the exponential of the difference',
    zh: '用 1 加新旧对数概率之差代替比率，缺少 exp',
    value: ({ log, advantage: a }, c) => Math.min((1 + log) * a, clamp(1 + log, 1 - c, 1 + c) * a),
    slope: ({ log, advantage: a }, c) => smaller(1 + log, 1 - c, 1 + c, a, 1),
  },
  'log-probability': {
    en: 'the log-probability times the advantage, without a ratio',
    zh: '对数概率乘优势，没有比率',
    value: ({ probability, advantage: a }) => Math.log(probability) * a,
    slope: ({ advantage: a }) => a,
    byGradient: true,
  },
  probability: {
    en: 'the difference of the probabilities in place of the ratio',
    zh: '用概率之差代替比率',
    value: ({ probability: p, oldProbability: q, advantage: a }, c) =>
      Math.min((1 + p - q) * a, clamp(1 + p - q, 1 - c, 1 + c) * a),
    slope: ({ probability: p, oldProbability: q, advantage: a }, c) => smaller(1 + p - q, 1 - c, 1 + c, a, p),
  },
  'inverse-ratio': {
    en: 'old over new probability, the ratio upside down',
    zh: '旧概率除以新概率，比率颠倒',
    value: ({ ratio, advantage: a }, c) => Math.min(a / ratio, clamp(1 / ratio, 1 - c, 1 + c) * a),
    slope: ({ ratio, advantage: a }, c) => smaller(1 / ratio, 1 - c, 1 + c, a, -1 / ratio),
  },
  'log-quotient': {
    en: 'new over old log-probability in place of the ratio, which is the exponential of their difference',
    zh: '用新旧对数概率之商代替比率，比率应是其差的指数',
    value: ({ probability: p, oldProbability: q, advantage: a }, c) => {
      const x = Math.log(p) / Math.log(q);
      return Math.min(x * a, clamp(x, 1 - c, 1 + c) * a);
    },
    slope: ({ probability: p, oldProbability: q, advantage: a }, c) =>
      smaller(Math.log(p) / Math.log(q), 1 - c, 1 + c, a, 1 / Math.log(q)),
  },
  absolute: {
    en: "the absolute value of each row's term",
    zh: '每行项的绝对值',
    value: ({ ratio, advantage: a }, c) => Math.abs(Math.min(ratio * a, clamp(ratio, 1 - c, 1 + c) * a)),
    slope: ({ ratio, advantage: a }, c) => Math.sign(a) * smaller(ratio, 1 - c, 1 + c, a, ratio),
  },
  squared: {
    en: "the square of each row's term",
    zh: '每行项的平方',
    value: ({ ratio, advantage: a }, c) => Math.min(ratio * a, clamp(ratio, 1 - c, 1 + c) * a) ** 2,
    slope: ({ ratio, advantage: a }, c) =>
      2 * Math.min(ratio * a, clamp(ratio, 1 - c, 1 + c) * a) * smaller(ratio, 1 - c, 1 + c, a, ratio),
  },
} as const satisfies Record<string, Form>;

export type LossFormName = keyof typeof lossForms;
export const lossFormNames = Object.keys(lossForms) as LossFormName[];

/** The table's entry with what is optional in it. */
export const lossForm = (name: LossFormName): Form => lossForms[name];

export class LossFormula implements Transform {
  readonly id = 'loss-formula';

  constructor(readonly form: LossFormName) {}

  describe(): string {
    const { en, zh } = lossForms[this.form];
    return told(en, zh);
  }
}
