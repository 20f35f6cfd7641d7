/** The rows of steps as a value loss sees them, and what the formulas that programs use make of them. */

import { type Penalty, type ValueFormName, valueForm } from './value-formula.ts';

/** In which units the old value is that a clip starts from: the critic's when it acted, those of the targets now, or the rewards'. */
export const units = ['critic', 'targets', 'rewards'] as const;

export interface ValueReading {
  form: ValueFormName;
  clip: number;
  old: (typeof units)[number];
  penalty: Penalty;
  /** Over the rows that count, or all; their mean, or their sum. */
  all: boolean;
  summed: boolean;
  /** The mean of the means of two halves, as where gradients are gathered over two passes. */
  halves?: boolean;
}

/** A step's rows: values, targets and old values in each of the units. */
export interface ValueRows {
  told: number;
  value: number[];
  target: number[];
  weight: number[];
  old: Record<(typeof units)[number], number[]>;
}

export interface Fit {
  mean: number;
  varies: number;
}

export const isRight = ({ form, old }: ValueReading) =>
  valueForm(form).right === true && (form === 'plain' || old !== 'rewards');

export function fitOf(quotients: readonly number[]): Fit {
  const mean = quotients.reduce((sum, value) => sum + value, 0) / quotients.length;
  let varies = 0;
  for (const value of quotients) varies = Math.max(varies, Math.abs(value / mean - 1));
  return { mean, varies: Number.isFinite(mean) ? varies : Number.POSITIVE_INFINITY };
}

export function given(reading: ValueReading, rows: ValueRows): number {
  const { length } = rows.value;
  if (!reading.halves) return over(reading, rows, 0, length);
  const middle = Math.ceil(length / 2);
  const means = [over(reading, rows, 0, middle), over(reading, rows, middle, length)].filter(Number.isFinite);
  return means.reduce((sum, mean) => sum + mean, 0) / means.length;
}

function over(
  { form, clip, old, penalty, all, summed }: ValueReading,
  rows: ValueRows,
  from: number,
  to: number,
): number {
  const { cost } = valueForm(form);
  const around = rows.old[old];
  let [sum, total] = [0, 0];
  for (let i = from; i < to; i++) {
    const weight = all ? 1 : rows.weight[i];
    if (weight === 0) continue;
    sum += weight * cost(rows.value[i], rows.target[i], around[i], clip, penalty);
    total += weight;
  }
  return summed ? sum : sum / total;
}
