/** Values in other units than the rewards: credit is linear in them, so it is the rewards' part + a times the values' part + b times that of a constant, with a and b by least squares. */

import { told } from '../../../language/language.ts';
import { advantages, flow } from '../../../math/advantages.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class AffineValues implements CreditTransform {
  readonly id = 'affine-values';

  apply({ iteration, rule, target }: CreditRows): Float64Array | null {
    const { credit } = iteration;
    if (!credit || !rule) return null;
    const { reward, value, nextValue } = credit;
    const rows = value.length;
    const solve = (r: ArrayLike<number>, v: ArrayLike<number>, n: ArrayLike<number> | null) => {
      const part = { ...credit, reward: r, value: v, nextValue: n };
      return advantages(part, flow(part, 'asRecorded'), rule, new Float64Array(rows));
    };
    const zero = new Float64Array(rows);
    const one = new Float64Array(rows).fill(1);
    const base = solve(reward, zero, zero);
    const values = solve(zero, value, nextValue);
    const constants = solve(zero, one, one);
    let [vv, vc, cc, vy, cy] = [0, 0, 0, 0, 0];
    for (let i = 0; i < rows; i++) {
      const y = target[i] - base[i];
      if (!Number.isFinite(y + values[i] + constants[i])) continue;
      vv += values[i] ** 2;
      vc += values[i] * constants[i];
      cc += constants[i] ** 2;
      vy += values[i] * y;
      cy += constants[i] * y;
    }
    const determinant = vv * cc - vc * vc;
    if (!(Math.abs(determinant) > limits.vanishing.value * vv * cc)) return null;
    const a = (vy * cc - cy * vc) / determinant;
    const b = (cy * vv - vy * vc) / determinant;
    // In the same units, and only apart by a constant, it is a term of the formula and no scale; and where the values drop out, they are in no units at all.
    if (Math.abs(a - 1) < limits.formulaSame.value || Math.abs(a) < limits.formulaSame.value) return null;
    return base.map((part, i) => part + a * values[i] + b * constants[i]);
  }

  describe(): string {
    return told('affine map of the values', '价值的仿射变换');
  }
}
