/** Another column of the same row stands where one should: the critic learns its own old value in place of the return. */
import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

const words = {
  value: ['the value at sampling', '采样时的价值'],
  advantage: ['the advantage', '优势'],
  reward: ['the reward', '奖励'],
} as const;

export const inPlaceColumns = Object.keys(words) as (keyof typeof words)[];

export class InPlaceOf implements Transform {
  readonly id = 'in-place-of';

  constructor(
    readonly column: keyof typeof words,
    readonly expected: 'return',
  ) {}

  describe(): string {
    const [en, zh] = words[this.column];
    return told(`${en} in place of the ${this.expected}`, `用${zh}代替了回报`);
  }
}
