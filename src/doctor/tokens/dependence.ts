/** Whether disagreement follows a figure of the responses, such as their padding: none where it is least, and more where it is more. */
import { figure } from '../diagnosis.ts';
import { limits } from '../limits.ts';
import { type Floor, gaps } from './floor.ts';

export interface Dependence {
  rows: number;
  told: string;
}

export function dependence(
  rows: readonly number[],
  figureOf: (row: number) => number,
  gapOf: (row: number) => number,
  floor: Floor,
): Dependence | null {
  const known = rows.filter((row) => !Number.isNaN(figureOf(row)) && !Number.isNaN(gapOf(row)));
  if (known.length < limits.decidingRows.value) return null;
  const values = [...new Set(known.map(figureOf))].sort((a, b) => a - b);
  if (values.length < 2) return null;
  const none = known.filter((row) => figureOf(row) === 0);
  const some = known.filter((row) => figureOf(row) > 0);
  const struck = gaps(some.map(gapOf));
  if (some.length < limits.fewestRows.value || !floor.among(some).broken(struck)) return null;
  if (none.length >= limits.fewestRows.value) {
    const clean = gaps(none.map(gapOf));
    if (!floor.holds(clean)) return null;
    return {
      rows: some.length,
      told: `nine tokens in ten are within ${figure(clean.q90)} nats without, within ${figure(struck.q90)} with`,
    };
  }
  // Without a row that has none, the lower half must be struck less than the upper.
  const middle = values[values.length >> 1];
  const [low, high] = [
    gaps(known.filter((row) => figureOf(row) < middle).map(gapOf)),
    gaps(known.filter((row) => figureOf(row) >= middle).map(gapOf)),
  ];
  return low.rows >= limits.fewestRows.value && low.q50 < limits.growsFrom.value * high.q50
    ? {
        rows: known.length,
        told: `median ${figure(low.q50)} nats below ${figure(middle)}, ${figure(high.q50)} from it on`,
      }
    : null;
}
