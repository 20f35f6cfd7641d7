/** One column stands where another should: the sampler's log-probabilities are those of the reference, of older weights, at temperature 1. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

const words = {
  logp_plain: ["the trainer's log-probabilities at temperature 1", '训练器在温度 1 下的对数概率'],
  logp_divided: [
    "the trainer's log-probabilities at temperature 1, divided by the temperature",
    '训练器在温度 1 下的对数概率再除以温度',
  ],
  reference_logp: ["the reference policy's log-probabilities", '参考策略的对数概率'],
  earlier_logp: ['the log-probabilities of older weights', '旧权重的对数概率'],
  kept_mass: [
    "the trainer's log-probabilities minus log kept_mass: over the kept tokens only",
    '训练器的对数概率减去 log kept_mass：只在保留的词元上归一',
  ],
  new_logp: ["the update's own log-probabilities", '更新自身的对数概率'],
} as const;

export class ColumnFor implements Transform {
  readonly id = 'column-for';

  constructor(
    readonly of: string,
    readonly column: keyof typeof words,
    /** Versions by which older weights lag. */
    readonly late?: number,
  ) {}

  describe(): string {
    const [en, zh] = words[this.column] ?? [this.column, this.column];
    const late =
      this.late === undefined
        ? ['', '']
        : [`, ${this.late} ${this.late === 1 ? 'version' : 'versions'} late`, `，晚 ${this.late} 个版本`];
    return told(`${this.of} is ${en}${late[0]}`, `${this.of} 是${zh}${late[1]}`);
  }
}
