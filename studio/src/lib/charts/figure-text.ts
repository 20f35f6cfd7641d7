/** Figures of a diagnosis as text. */
import type { Figures } from '../../../../src/doctor/diagnosis.ts';
import { number } from '../../../../src/report/number.ts';

export function figureText(value: Figures[string] | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'number') return number(value);
  return Array.isArray(value) ? value.map((item) => number(item ?? Number.NaN)).join(', ') : String(value);
}
