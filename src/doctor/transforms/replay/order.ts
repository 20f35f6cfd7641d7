/** The row's candidates in another order, so that the action points at another of them. */

import { told } from '../../../language/language.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform, View } from './replay-rows.ts';

export type ListOrder = 'ascending' | 'descending' | 'reversed' | 'any';

const texts: Readonly<Record<ListOrder, readonly [en: string, zh: string]>> = {
  ascending: ['candidate list sorted by id', '候选列表按编号排序'],
  descending: ['candidate list sorted by id, descending', '候选列表按编号降序排序'],
  reversed: ['candidate list reversed', '候选列表倒序'],
  any: ['candidate list in another order', '候选列表的另一种顺序'],
};

export class Order implements ReplayTransform {
  readonly id = 'order';

  constructor(readonly by: ListOrder) {}

  alter(view: View, rows: ReplayRows): View | null {
    const place = this.place(view.place, rows);
    return place < 0 ? null : { ...view, place };
  }

  match(rows: ReplayRows): Match {
    if (rows.hasLists && !rows.sameList) return this.sameOrder(rows) ? 2 : 0;
    if (!rows.canScore || rows.own.count < 2 || rows.inOwnOrder) return 0;
    // The entropy of a list does not depend on its order.
    const { entropy, fresh } = rows.row;
    if (Number.isFinite(entropy) && Math.abs(entropy - rows.own.entropy) > limits.sameEntropy.value) return 0;
    const view = this.alter(rows.view, rows);
    return view && rows.agrees(rows.score(view), fresh) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    if (rows.hasLists && !rows.sameList && rows.replayed.logits) return rows.recordedScore;
    const view = rows.canScore ? this.alter(rows.view, rows) : null;
    return view ? rows.score(view) : Number.NaN;
  }

  /** Which candidate stands where the action points once the list is in that order; -1 where that cannot be told. */
  private place(action: number, { own, sampled, row }: ReplayRows): number {
    const { count } = own;
    if (this.by === 'reversed') return count - 1 - action;
    if (this.by === 'any') {
      let best = -1;
      const gap = (i: number) => Math.abs(own.logp(i) - row.fresh);
      for (let i = 0; i < count; i++) if (i !== action && !(best >= 0 && gap(best) <= gap(i))) best = i;
      return best;
    }
    if (!sampled.subset) return -1;
    // The candidate at that place after sorting by id is the one with that many smaller ids.
    const wanted = this.by === 'ascending' ? action : count - 1 - action;
    for (let i = 0; i < count; i++) {
      let below = 0;
      for (let j = 0; j < count; j++) if (sampled.id(row.sample, j) < sampled.id(row.sample, i)) below++;
      if (below === wanted) return i;
    }
    return -1;
  }

  /** Whether the list of the update is the row's own in that order. */
  private sameOrder({ sampled, replayed, row }: ReplayRows): boolean {
    const count = replayed.count(row.replay);
    if (count !== sampled.count(row.sample)) return false;
    const own = Array.from({ length: count }, (_, i) => sampled.id(row.sample, i));
    const theirs = Array.from({ length: count }, (_, i) => replayed.id(row.replay, i));
    const same = (a: number[], b: number[]) => a.every((id, i) => id === b[i]);
    const ascending = (list: number[]) => [...list].sort((a, b) => a - b);
    if (this.by === 'reversed') return same(own.reverse(), theirs);
    if (this.by === 'any') return same(ascending(own), ascending(theirs));
    return same(this.by === 'ascending' ? ascending(own) : ascending(own).reverse(), theirs);
  }

  describe(): string {
    return told(...texts[this.by]);
  }
}

/** Nats between two entropies that are the same, as reported in single precision. */
