/** Disagreement that follows a column of the responses, and is not there where it is 0. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class GrowsWith implements Transform {
  readonly id = 'grows-with';

  constructor(readonly column: string) {}

  describe(): string {
    return told(`disagreement only where ${this.column} is above 0`, `只有 ${this.column} 大于 0 时才不一致`);
  }
}
