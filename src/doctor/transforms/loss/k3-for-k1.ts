/** The steady estimator of KL in place of the noisy one. */
import { type Language, type Transform, told } from '../transform.ts';

export class K3ForK1 implements Transform {
  readonly id = 'k3-for-k1';

  describe(language: Language): string {
    return told(language, 'k3 in place of k1', '用 k3 代替 k1');
  }
}
