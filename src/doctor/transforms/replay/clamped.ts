/** Actions beyond the first K are scored as the last of those, over the whole list: an index that was cut to fit a fixed number of actions. */

import { told } from '../../../language/language.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRow, ReplayRows, ReplayTransform, View } from './replay-rows.ts';

export class Clamped implements ReplayTransform {
  readonly id = 'clamped';

  constructor(readonly k: number) {}

  alter(view: View): View | null {
    return view.place < this.k ? null : { ...view, place: this.k - 1 };
  }

  match(rows: ReplayRows): Match {
    return rows.agrees(this.score(rows), rows.row.fresh) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    const view = rows.canScore ? this.alter(rows.view) : null;
    return view ? rows.score(view) : Number.NaN;
  }

  /** One K for all rows, and more than one: none that disagrees may have an action below it. */
  fitted(rows: ReplayRows, few: readonly ReplayRow[]): Clamped | null {
    const lowest = Math.min(...few.map(({ action }) => action));
    for (let k = lowest; k > 1; k--) {
      const cut = new Clamped(k);
      const explained = few.filter((row) => cut.match(rows.at(row)) === 2).length;
      if (explained >= limits.exactly.value * few.length) return cut;
    }
    return null;
  }

  describe(): string {
    return told(
      `actions beyond the first K = ${this.k} scored as the last of those`,
      `超出前 K = ${this.k} 个的动作按其中最后一个计分`,
    );
  }
}
