/** The mask of the update in place of the row's own, or none at all. */

import { told } from '../../../language/language.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform, View } from './replay-rows.ts';

export class Mask implements ReplayTransform {
  readonly id = 'mask';

  constructor(readonly of: 'update' | 'none') {}

  alter(view: View, rows: ReplayRows): View | null {
    return this.of === 'none' || this.differs(rows) ? { ...view, mask: this.of } : null;
  }

  /** Without logits, the two masks themselves must do. */
  match(rows: ReplayRows): Match {
    if (rows.canScore) {
      const view = this.alter(rows.view, rows);
      return view && rows.agrees(rows.score(view), rows.row.fresh) ? 2 : 0;
    }
    return this.of === 'update' && rows.sampled.legal && this.differs(rows) ? 2 : 0;
  }

  private differs({ replayed, sameList, sameMask }: ReplayRows): boolean {
    return replayed.legal !== null && sameList && !sameMask;
  }

  describe(): string {
    return this.of === 'none'
      ? told('unmasked distribution', '未加掩码的分布')
      : told("the mask of the update in place of the row's own", '用更新的掩码代替该行自己的掩码');
  }
}
