/** The loss mask, or the log-probabilities, some places off within the response. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class TokenShift implements Transform {
  readonly id = 'token-shift';

  constructor(
    readonly of: 'mask' | 'logp' | 'reward',
    /** How many places later than it should be; null where every response has its own. */
    readonly places: number | null,
  ) {}

  describe(): string {
    const name = {
      mask: ['loss mask', '损失掩码'],
      logp: ['log-probabilities', '对数概率'],
      reward: ['reward', '奖励'],
    }[this.of];
    if (this.places === null)
      return told(`the ${name[0]} aligned to the other end of each response`, `${name[1]}对齐到了每个回答的另一端`);
    const count = Math.abs(this.places);
    return told(
      `the ${name[0]} ${count} ${count === 1 ? 'token' : 'tokens'} ${this.places > 0 ? 'later' : 'earlier'}`,
      `${name[1]}${this.places > 0 ? '晚' : '早'} ${count} 个词元`,
    );
  }
}
