/** What was stored as old_logp in place of the log-probability of the action. */

import { told } from '../../../language/language.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import { nearest } from '../credit/permutation.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';

export type StoredAs = 'zero' | 'uniform' | 'unmasked' | 'other-action' | 'other-row' | 'other-number';

const texts: Readonly<Record<StoredAs, readonly [en: string, zh: string]>> = {
  zero: ['old_logp is 0', 'old_logp 是 0'],
  uniform: ['old_logp is that of a uniform choice', 'old_logp 是均匀选择的对数概率'],
  unmasked: ['old_logp is that of the unmasked distribution', 'old_logp 是未加掩码的分布的对数概率'],
  'other-action': ["old_logp is that of another of the row's actions", 'old_logp 是该行另一个动作的对数概率'],
  'other-row': ['old_logp is that of another row', 'old_logp 是另一行的对数概率'],
  'other-number': ['old_logp is no number that is known', 'old_logp 是一个来历不明的数'],
};

export class OldLogp implements ReplayTransform {
  readonly id = 'old-logp';

  constructor(readonly is: StoredAs) {}

  get explains(): 'old' {
    return 'old';
  }

  match(rows: ReplayRows): Match {
    const { used, stored, action } = rows.row;
    if (this.is === 'zero') return used === 0 && rows.ownLogp !== 0 ? 2 : 0;
    if (this.is === 'other-row')
      return !rows.agrees(stored, used) && Math.abs(this.score(rows) - used) <= limits.rounding.value ? 2 : 0;
    if (!rows.freshIsOwn) return 0;
    // Against the update's own logits it would only say again that the two passes differ.
    if (this.is === 'other-number') return action >= 0 && !rows.baseIsReplay ? 2 : 0;
    return rows.agrees(this.score(rows), used) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    const { own, row } = rows;
    switch (this.is) {
      case 'zero':
        return 0;
      case 'uniform':
        return -Math.log(own.count);
      case 'unmasked':
        return rows.score({ ...rows.view, mask: 'none' });
      case 'other-row':
        return nearest(rows.olds, row.used);
      case 'other-action': {
        let best = Number.NaN;
        for (let i = 0; i < own.count; i++)
          if (i !== row.action && !(Math.abs(best - row.used) <= Math.abs(own.logp(i) - row.used))) best = own.logp(i);
        return best;
      }
      default:
        return Number.NaN;
    }
  }

  describe(): string {
    return told(...texts[this.is]);
  }
}
