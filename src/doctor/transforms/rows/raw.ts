/** Advantages at the scale at which they were computed, where they should have been normalised. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class Raw implements Transform {
  readonly id = 'raw';

  describe(): string {
    return told('advantages as they were computed, not normalised', '未归一化的原始优势');
  }
}
