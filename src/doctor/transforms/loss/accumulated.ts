/** The gradient of a step is that of its own rows and of all steps before it, because nothing cleared it. */
import { type Language, type Transform, told } from '../transform.ts';

export class Accumulated implements Transform {
  readonly id = 'accumulated';

  describe(language: Language): string {
    return told(language, 'the gradients of all steps so far, added up', '此前各步梯度之和');
  }
}
