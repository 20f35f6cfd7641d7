/** The level that the loss is a mean over, read off the derivative of the loss. */

import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import type { Transform } from '../transform.ts';

export class Normaliser implements Transform {
  readonly id = 'normaliser';

  constructor(
    readonly level: string,
    /** What is left after the level; 1 where the level is all. */
    readonly times = 1,
  ) {}

  describe(): string {
    const times = this.times === 1 ? '' : ` x ${figure(this.times)}`;
    return told(`normalised by: ${this.level}${times}`, `归一化方式：${this.level}${times}`);
  }
}
