/** Nothing undoes noise: a second forward pass with nothing changed gives other numbers. */
import { type Language, type Transform, told } from '../transform.ts';

export class SecondPass implements Transform {
  readonly id = 'second-pass';

  describe(language: Language): string {
    return told(language, 'none: a second forward pass gives other numbers', '没有：再算一次前向就得到不同的数');
  }
}
