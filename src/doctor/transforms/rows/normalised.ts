/** Advantages with mean 0 and spread 1. */
import { type Language, type Transform, told } from '../transform.ts';

export class Normalised implements Transform {
  readonly id = 'normalised';

  describe(language: Language): string {
    return told(language, 'mean 0 and spread 1', '均值为 0、标准差为 1');
  }
}
