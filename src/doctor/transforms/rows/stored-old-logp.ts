/** The old log-probability of the loss is the one stored when the action was sampled. */
import { type Language, type Transform, told } from '../transform.ts';

export class StoredOldLogp implements Transform {
  readonly id = 'stored-old-logp';

  describe(language: Language): string {
    return told(language, 'old_logp as stored when the action was sampled', '采样动作时存下的 old_logp');
  }
}
