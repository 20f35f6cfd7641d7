/** The update scored another action than the row's, under the row's own logits: actions were shuffled, or shifted, apart from their rows. */

import { told } from '../../../language/language.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';

export class OtherAction implements ReplayTransform {
  readonly id = 'other-action';

  match(rows: ReplayRows): Match {
    return rows.inOwnOrder && rows.sameList && rows.agrees(this.score(rows), rows.row.fresh) ? 2 : 0;
  }

  /** That of the candidate whose log-probability comes nearest. */
  score({ own, row }: ReplayRows): number {
    let best = Number.NaN;
    for (let i = 0; i < own.count; i++) {
      const logp = own.logp(i);
      if (logp === row.fresh) return logp;
      if (i !== row.action && !(Math.abs(best - row.fresh) <= Math.abs(logp - row.fresh))) best = logp;
    }
    return best;
  }

  describe(): string {
    return told("another of the row's actions, under its own logits", '该行自己的 logits 下另一个动作');
  }
}
