/** The row's candidates in another order, so that the action points at another of them. */
import { type Language, type Transform, told } from '../transform.ts';

export type ListOrder = 'ascending' | 'descending' | 'reversed' | 'any';

const texts: Readonly<Record<ListOrder, readonly [en: string, zh: string]>> = {
  ascending: ['candidate list sorted by id', '候选列表按编号排序'],
  descending: ['candidate list sorted by id, descending', '候选列表按编号降序排序'],
  reversed: ['candidate list reversed', '候选列表倒序'],
  any: ['candidate list in another order', '候选列表的另一种顺序'],
};

export class Order implements Transform {
  readonly id = 'order';

  constructor(readonly by: ListOrder) {}

  describe(language: Language): string {
    return told(language, ...texts[this.by]);
  }
}
