/** Only the first K candidates of every row, whatever its own number. */
import { type Language, type Transform, told } from '../transform.ts';

export class FirstK implements Transform {
  readonly id = 'first-k';

  constructor(readonly k: number) {}

  describe(language: Language): string {
    return told(language, `first K = ${this.k} candidates`, `前 K = ${this.k} 个候选`);
  }
}
