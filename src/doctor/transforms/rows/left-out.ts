/** Rows that no decision made are left out. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class LeftOut implements Transform {
  readonly id = 'left-out';

  describe(): string {
    return told('those rows left out', '去掉这些行');
  }
}
