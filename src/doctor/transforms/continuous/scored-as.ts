/** A log-probability of a continuous action was computed by another formula than it should have been. */

import { told } from '../../../language/language.ts';
import type { Form } from '../../continuous/density.ts';
import type { Transform } from '../transform.ts';

const reduces = {
  sum: ['the sum over dimensions', '各维之和'],
  mean: ['the mean over dimensions', '各维的平均'],
  first: ['the first dimension alone', '仅第一维'],
  last: ['the last dimension alone', '仅最后一维'],
} as const;
const deviations = {
  own: ['the deviation itself', '标准差本身'],
  exponential: ['the deviation taken for its logarithm', '把标准差当作其对数'],
  variance: ['the variance in place of the deviation', '用方差代替标准差'],
  root: ['the root of the deviation', '标准差的平方根'],
  unit: ['a deviation of 1', '标准差为 1'],
} as const;

export class ScoredAs implements Transform {
  readonly id = 'scored-as';

  constructor(
    /** Which log-probability it is about; `draw`: the action itself. */
    readonly side: 'old' | 'new' | 'both' | 'draw' | 'entropy',
    /** The parts of the formula that differ. */
    readonly form: Partial<Form>,
    /** How an action became what the environment was given. */
    readonly given: string = 'clipped',
  ) {}

  describe(): string {
    const { reduce, deviation, action, squash, scaled } = this.form;
    const parts: [string, string][] = [];
    if (reduce) parts.push([...reduces[reduce]]);
    if (deviation) parts.push([...deviations[deviation]]);
    if (action === 'given')
      parts.push(
        this.given === 'changed'
          ? ['the action that the environment was given', '环境得到的动作']
          : [`the ${this.given} action`, `环境得到的动作（${this.given}）`],
      );
    if (action === 'raw') parts.push(['the action as it was drawn', '采样得到的原始动作']);
    if (squash !== undefined)
      parts.push(
        squash === 0
          ? ['no derivative of tanh', '不含 tanh 的导数']
          : squash === 1
            ? ['the derivative of tanh once', '含一次 tanh 的导数']
            : [`the derivative of tanh ${squash} times`, `含 ${squash} 次 tanh 的导数`],
      );
    if (scaled !== undefined)
      parts.push(
        scaled
          ? ['with the factor after tanh', '含 tanh 之后的系数']
          : ['without the factor after tanh', '不含 tanh 之后的系数'],
      );
    return told(parts.map(([en]) => en).join(', '), parts.map(([, zh]) => zh).join('，'));
  }
}
