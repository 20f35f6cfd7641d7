/** The mask of the update in place of the row's own, or none at all. */
import { type Language, type Transform, told } from '../transform.ts';

export class Mask implements Transform {
  readonly id = 'mask';

  constructor(readonly of: 'update' | 'none') {}

  describe(language: Language): string {
    return this.of === 'none'
      ? told(language, 'unmasked distribution', '未加掩码的分布')
      : told(language, "the mask of the update in place of the row's own", '用更新的掩码代替该行自己的掩码');
  }
}
