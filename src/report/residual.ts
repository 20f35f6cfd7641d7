/** How far apart a cause's numbers are, before and after what undoes it. The terminal, the page and the studio all show these, and its picture is drawn from the same rows. */
import type { Cause } from '../doctor/diagnosis.ts';
import { number } from './number.ts';

export interface ResidualBar {
  side: 'before' | 'after';
  text: string;
  /** From 0 to 1, by orders of magnitude from 1e-9 to 10. */
  length: number;
}

/** None where the check gave no number. */
export function residualBars({ residual_before: before, residual_after: after }: Cause): ResidualBar[] {
  const bar = (side: ResidualBar['side'], value: number | undefined): ResidualBar[] => {
    if (value === undefined) return [];
    const length = Number.isFinite(value) ? Math.max(0, Math.min(1, (Math.log10(Math.max(value, 1e-9)) + 9) / 10)) : 0;
    return [{ side, text: number(value), length }];
  };
  return [...bar('before', before), ...bar('after', after)];
}
