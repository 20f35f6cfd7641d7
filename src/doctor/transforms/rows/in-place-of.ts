/** Another column of the same row stands where one should: the critic learns its own old value in place of the return, or the loss takes the reward for the advantage. */
import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from '../credit/credit-rows.ts';

const words = {
  value: ['the value at sampling', '采样时的价值'],
  advantage: ['the advantage', '优势'],
  reward: ['the reward', '奖励'],
  return: ['the return', '回报'],
} as const;

type Column = keyof typeof words;

/** Columns that may be taken for the one that was meant. */
export const inPlaceColumns = (expected: 'return' | 'advantage'): Column[] =>
  (Object.keys(words) as Column[]).filter((column) => column !== expected);

export class InPlaceOf implements CreditTransform {
  readonly id = 'in-place-of';

  constructor(
    readonly column: Column,
    readonly expected: 'return' | 'advantage',
  ) {}

  apply({ iteration }: CreditRows): Float64Array | null {
    const taken = iteration.samples!.column(this.column);
    return taken && Float64Array.from(taken);
  }

  describe(): string {
    const [en, zh] = words[this.column];
    return told(`${en} in place of the ${this.expected}`, `用${zh}代替了${words[this.expected][1]}`);
  }
}
