/** The update's log-probabilities run along the rows of the minibatch: a softmax over the first axis, or a gather along it. */

import { told } from '../../../language/language.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';

export class OverRows implements ReplayTransform {
  readonly id = 'over-rows';

  constructor(readonly by: 'softmax' | 'gather') {}

  match(rows: ReplayRows): Match {
    return rows.replayed.logits && !rows.hasLists && rows.agrees(this.score(rows), rows.row.fresh) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    const { action, replay } = rows.row;
    if (!rows.replayed.logits || action < 0) return Number.NaN;
    if (this.by === 'softmax')
      return rows.replayed.logit(replay, action) / rows.replayed.temperatureOf(replay) - rows.totalOver(action);
    // Along the rows, the action's number says which row of the minibatch is read, and its first place is taken.
    const { from, to } = rows.minibatch;
    return from + action < to ? rows.recorded(from + action).logp(0) : Number.NaN;
  }

  describe(): string {
    return this.by === 'softmax'
      ? told('a softmax over the rows of the minibatch', '对小批各行做 softmax')
      : told('a gather along the rows of the minibatch', '沿小批各行 gather');
  }
}
