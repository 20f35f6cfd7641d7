/** The gradient of a step is that of its own rows and of all steps before it, because nothing cleared it. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

export class Accumulated implements Transform {
  readonly id = 'accumulated';

  describe(): string {
    return told('the gradients of all steps so far, added up', '此前各步梯度之和');
  }
}
