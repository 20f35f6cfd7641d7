/** Nothing undoes noise: a second forward pass with nothing changed gives other numbers. */

import { told } from '../../../language/language.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import type { ReplayRows, ReplayTransform } from './replay-rows.ts';

export class SecondPass implements ReplayTransform {
  readonly id = 'second-pass';

  get explains(): 'either' {
    return 'either';
  }

  match(rows: ReplayRows): Match {
    const { again, fresh, used } = rows.row;
    // Logits that are the row's own to the digit passed through no noise, whatever was made of them.
    if (!Number.isFinite(again) || rows.agrees(again, fresh) || rows.inOwnOrder) return 0;
    return Math.abs(again - fresh) > limits.secondPass.value * Math.abs(fresh - used) ? 2 : 0;
  }

  describe(): string {
    return told('none: a second forward pass gives other numbers', '没有：再算一次前向就得到不同的数');
  }
}
