/** The candidate list that the action was chosen from. */
import { type Language, type Transform, told } from '../transform.ts';

export class OwnList implements Transform {
  readonly id = 'own-list';

  describe(language: Language): string {
    return told(language, "the row's own candidate list", '该行自己的候选列表');
  }
}
