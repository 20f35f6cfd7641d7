/** One side of the critic, or the input, in other units than the samples: slope, and shift in spreads of that side. */

import { told } from '../../../language/language.ts';
import { figure } from '../../diagnosis.ts';
import type { Transform } from '../transform.ts';

export class Affine implements Transform {
  readonly id = 'affine';

  constructor(
    readonly of: 'value' | 'target' | 'input',
    readonly slope: number,
    readonly shift: number,
  ) {}

  describe(): string {
    const [slope, shift] = [figure(this.slope), figure(this.shift)];
    return told(
      `affine map of the ${this.of}: slope ${slope}, shift ${shift} of its spread`,
      `${{ value: '价值', target: '目标', input: '输入' }[this.of]}的仿射变换：斜率 ${slope}，平移为其标准差的 ${shift} 倍`,
    );
  }
}
