/** A policy loss that clips its ratios elsewhere than its step says. */
import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import type { Transform } from '../transform.ts';

export class LossClip implements Transform {
  readonly id = 'loss-clip';

  constructor(readonly clip: number) {}

  describe(): string {
    const clip = figure(this.clip);
    return told(`the clipped surrogate with a clip of ${clip}`, `裁剪范围为 ${clip} 的裁剪目标`);
  }
}
