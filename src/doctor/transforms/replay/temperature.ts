/** The logits of one pass divided by another temperature. */
import { figure } from '../../diagnosis.ts';
import { type Language, type Transform, told } from '../transform.ts';

export class Temperature implements Transform {
  readonly id = 'temperature';

  constructor(
    readonly of: 'update' | 'sampling',
    readonly divisor: number,
  ) {}

  describe(language: Language): string {
    const divisor = figure(this.divisor);
    return told(
      language,
      `logits of ${this.of === 'update' ? 'the update' : 'sampling'} divided by ${divisor}`,
      `${this.of === 'update' ? '更新' : '采样'}的 logits 除以 ${divisor}`,
    );
  }
}
