/** The first global logits, 0 to K - 1, in place of those that the list names. */
import { type Language, type Transform, told } from '../transform.ts';

export class Prefix implements Transform {
  readonly id = 'prefix';

  constructor(readonly of: 'update' | 'sampling') {}

  describe(language: Language): string {
    return this.of === 'update'
      ? told(language, 'prefix of the global logits', '全局 logits 的前缀')
      : told(language, 'prefix of the global logits, in sampling', '采样时用了全局 logits 的前缀');
  }
}
