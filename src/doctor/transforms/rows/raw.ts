/** Advantages at the scale at which they were computed, where they should have been normalised. */
import { type Language, type Transform, told } from '../transform.ts';

export class Raw implements Transform {
  readonly id = 'raw';

  describe(language: Language): string {
    return told(language, 'advantages as they were computed, not normalised', '未归一化的原始优势');
  }
}
