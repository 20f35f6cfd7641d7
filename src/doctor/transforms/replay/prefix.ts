/** The first global logits, 0 to K - 1, in place of those that the list names. */

import { told } from '../../../language/language.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';
import { listUnknown, sampledPrefix, sharesLogits } from './shared-logits.ts';

export class Prefix implements ReplayTransform {
  readonly id = 'prefix';

  constructor(readonly of: 'update' | 'sampling') {}

  match(rows: ReplayRows): Match {
    const { sampled, replayed, row, hasLists, sameList } = rows;
    if (this.of === 'sampling') {
      if (!sameList || !replayed.logits || !sampled.subset || !sampled.logits) return 0;
      const found = sampledPrefix(rows);
      return found === null ? 1 : found ? 2 : 0;
    }
    if (hasLists) {
      if (sameList) return 0;
      for (let i = 0; i < replayed.count(row.replay); i++) if (replayed.id(row.replay, i) !== i) return 0;
      return 2;
    }
    return listUnknown(rows) && sharesLogits(rows, (candidate) => candidate) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    return rows.recordedScore;
  }

  describe(): string {
    return this.of === 'update'
      ? told('prefix of the global logits', '全局 logits 的前缀')
      : told('prefix of the global logits, in sampling', '采样时用了全局 logits 的前缀');
  }
}
