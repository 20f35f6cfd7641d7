/** Disagreement that follows a column of the responses, and is not there where it is 0. */
import { type Language, type Transform, told } from '../transform.ts';

export class GrowsWith implements Transform {
  readonly id = 'grows-with';

  constructor(readonly column: string) {}

  describe(language: Language): string {
    return told(language, `disagreement only where ${this.column} is above 0`, `只有 ${this.column} 大于 0 时才不一致`);
  }
}
