/** Rows that were collected so many iterations before the update that used them. */
import { type Language, type Transform, told } from '../transform.ts';

export class RowsOfIteration implements Transform {
  readonly id = 'rows-of-iteration';

  constructor(readonly before: number) {}

  describe(language: Language): string {
    return told(
      language,
      `rows collected ${this.before} iteration${this.before === 1 ? '' : 's'} earlier`,
      `${this.before} 次迭代以前收集的行`,
    );
  }
}
