/** The current policy's log-probability in the place of the one stored when the action was sampled. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class NewForOld implements Transform {
  readonly id = 'new-for-old';

  describe(): string {
    return told(
      'new_logp of the same pass in place of the stored old_logp',
      '用同一次前向的 new_logp 代替了存下的 old_logp',
    );
  }
}
