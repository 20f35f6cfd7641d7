/** Rows that no decision made are left out. */
import { type Language, type Transform, told } from '../transform.ts';

export class LeftOut implements Transform {
  readonly id = 'left-out';

  describe(language: Language): string {
    return told(language, 'those rows left out', '去掉这些行');
  }
}
