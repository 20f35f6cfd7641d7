/** Only the first K candidates of every row, whatever its own number. */

import { told } from '../../../language/language.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRow, ReplayRows, ReplayTransform, View } from './replay-rows.ts';

export class FirstK implements ReplayTransform {
  readonly id = 'first-k';

  constructor(readonly k: number) {}

  alter(view: View): View {
    return { ...view, limit: this.k };
  }

  match(rows: ReplayRows): Match {
    if (rows.replayed.count(rows.row.replay) === this.k) return 2;
    return rows.canScore && rows.agrees(rows.score(this.alter(rows.view)), rows.row.fresh) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    if (rows.replayed.logits) return rows.recordedScore;
    return rows.canScore ? rows.score(this.alter(rows.view)) : Number.NaN;
  }

  /** The one K that explains most of the rows. */
  fitted(rows: ReplayRows, few: readonly ReplayRow[]): FirstK | null {
    const { sampled, replayed, iteration } = rows;
    const numbers = iteration.samples!.column('num_actions');
    const counts = (row: ReplayRow) => (numbers ? numbers[row.sample] : sampled.count(row.sample));
    if (replayed.subset || replayed.logits) {
      const [length, ...others] = new Set(few.map((row) => replayed.count(row.replay)));
      // How long a list was that nobody recorded is not known.
      const otherwise = (row: ReplayRow) => counts(row) > 0 && counts(row) !== length;
      return others.length === 0 && length > 0 && few.some(otherwise) ? new FirstK(length) : null;
    }
    const longest = Math.max(0, ...few.map(counts));
    let best: FirstK | null = null;
    let most = limits.most.value * few.length;
    for (let count = 1; count < longest; count++) {
      const cut = new FirstK(count);
      const explained = few.filter((row) => {
        rows.at(row);
        return rows.agrees(rows.score(cut.alter(rows.view)), row.fresh);
      }).length;
      if (explained > most) [best, most] = [cut, explained];
    }
    return best;
  }

  describe(): string {
    return told(`first K = ${this.k} candidates`, `前 K = ${this.k} 个候选`);
  }
}
