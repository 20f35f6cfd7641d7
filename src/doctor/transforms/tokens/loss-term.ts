/** A term of the loss that is there in another form than declared, or not at all. */

import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import type { Transform } from '../transform.ts';

export class LossTerm implements Transform {
  readonly id = 'loss-term';

  constructor(
    readonly term: 'importance-weight' | 'kl' | 'sign' | 'ratio' | 'clip',
    /** What stands in the loss in its place. */
    readonly is: string,
    readonly coefficient?: number,
  ) {}

  describe(): string {
    const value = this.coefficient === undefined ? '' : ` ${figure(this.coefficient)}`;
    return told(`the loss with ${this.is}${value}`, `损失中为：${this.is}${value}`);
  }
}
