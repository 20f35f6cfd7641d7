/** The row's own credit and a line of its value beside it: a return from which the value was taken away in other units than it was added in. */

import { told } from '../../../language/language.ts';
import { Pairs } from '../../../math/statistics.ts';
import { figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class ValueBeside implements CreditTransform {
  readonly id = 'value-beside';

  constructor(
    readonly slope = Number.NaN,
    readonly shift = Number.NaN,
  ) {}

  /** Null where the line is not exact, is flat, or is the value itself: then the return stands for the advantage. */
  fit({ iteration, own, target, wrong, slack }: CreditRows): ValueBeside | null {
    const value = iteration.credit?.value;
    if (!value) return null;
    const line = new Pairs();
    for (let i = 0; i < wrong.length; i++) {
      const row = wrong[i];
      if (Number.isFinite(own[row] + target[row] + value[row])) line.add(value[row], target[row] - own[row]);
    }
    if (line.count < limits.formulaRows.value || !(line.spreadX > limits.criticStill.value)) return null;
    const { slope, intercept } = line;
    if (!(Math.abs(slope) > limits.formulaSame.value) || Math.abs(slope - 1) <= limits.formulaSame.value) return null;
    let exact = 0;
    for (let i = 0; i < wrong.length; i++) {
      const row = wrong[i];
      if (Math.abs(own[row] + slope * value[row] + intercept - target[row]) <= slack) exact++;
    }
    return exact >= limits.formulaExact.value * line.count ? new ValueBeside(slope, intercept) : null;
  }

  apply({ iteration, own }: CreditRows): Float64Array | null {
    const value = iteration.credit?.value;
    return value ? Float64Array.from(own, (credit, row) => credit + this.slope * value[row] + this.shift) : null;
  }

  describe(): string {
    const units = figure(1 - this.slope);
    return told(
      `return minus the value in other units (${units} times the value, shifted by ${figure(-this.shift)})`,
      `回报减去另一种单位的价值（价值的 ${units} 倍，平移 ${figure(-this.shift)}）`,
    );
  }
}
