/** The gradient is that of the entropy bonus, without the policy loss. */
import { type Language, type Transform, told } from '../transform.ts';

export class EntropyAlone implements Transform {
  readonly id = 'entropy-alone';

  describe(language: Language): string {
    return told(language, 'the entropy term alone', '只有熵项');
  }
}
