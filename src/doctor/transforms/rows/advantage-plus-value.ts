/** The return is the sum of advantage and value. */
import { type Language, type Transform, told } from '../transform.ts';

export class AdvantagePlusValue implements Transform {
  readonly id = 'advantage-plus-value';

  describe(language: Language): string {
    return told(language, 'advantage + value', '优势加价值');
  }
}
