/** What was reported, or what the gradient is of, in place of the mean over the rows of a step. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export type LossForm =
  | 'sum'
  | 'all-pairs'
  | 'log-pairs'
  | 'smaller-mean'
  | 'negated'
  | 'unmasked'
  | 'beside'
  | 'swapped';
export type LossTerm = 'policy' | 'value' | 'entropy' | 'whole';

export class LossIs implements Transform {
  readonly id = 'loss-is';

  constructor(
    readonly form: LossForm,
    readonly of: LossTerm,
  ) {}

  describe(): string {
    if (this.form === 'sum') return told('sum over the minibatch', '小批次上的和');
    if (this.form === 'swapped') return told('the coefficients of value and entropy swapped', '价值与熵的系数互换');
    if (this.form === 'unmasked')
      return told('mean over all rows, those without weight too', '所有行上的均值，包括没有权重的行');
    if (this.form === 'beside')
      return told(
        "with the policy loss beside it, whose advantages carry the value's gradient",
        '同时加上策略损失，其优势带有价值的梯度',
      );
    if (this.form === 'smaller-mean')
      return told(
        'the smaller of two means, not the mean of what is smaller in each row',
        '两个均值中较小的一个，而不是每行较小者的均值',
      );
    if (this.form === 'log-pairs')
      return told('mean over all pairs of a new log-probability and an old one', '新旧对数概率所有配对上的均值');
    if (this.form === 'negated') {
      if (this.of === 'entropy') return told('sign of the entropy term', '熵项的符号');
      return told(`sign of the ${this.of} loss`, `${this.of === 'policy' ? '策略' : '价值'}损失的符号`);
    }
    return this.of === 'value'
      ? told('mean over all pairs of a value and a return', '价值与回报所有配对上的均值')
      : told('mean over all pairs of a ratio and an advantage', '比率与优势所有配对上的均值');
  }
}
