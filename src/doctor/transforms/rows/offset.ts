/** Advantages with their common offset taken away. */
import { type Language, type Transform, told } from '../transform.ts';

export class Offset implements Transform {
  readonly id = 'offset';

  describe(language: Language): string {
    return told(language, 'offset', '去掉共同的偏移');
  }
}
