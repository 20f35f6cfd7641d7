/** Another candidate list than the one that the action was chosen from; which, is not known. */

import { told } from '../../../language/language.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';

export class OwnList implements ReplayTransform {
  readonly id = 'own-list';

  match({ hasLists, sameList }: ReplayRows): Match {
    return hasLists && !sameList ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    return rows.recordedScore;
  }

  describe(): string {
    return told("the row's own candidate list", '该行自己的候选列表');
  }
}
