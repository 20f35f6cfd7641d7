/** The gradient is that of the entropy bonus, without the policy loss. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class EntropyAlone implements Transform {
  readonly id = 'entropy-alone';

  describe(): string {
    return told('the entropy term alone', '只有熵项');
  }
}
