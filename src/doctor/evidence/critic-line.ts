/** Whether the critic says the same before the first step as when the rows were sampled, be it in other units: one line then maps its values of all rows. */
import { Pairs } from '../../math/statistics.ts';
import { creditTolerance, fewestRows } from '../check.ts';
import { limits } from '../limits.ts';
import type { Iteration } from './iteration.ts';

/** Whether one line maps all rows; a constant says nothing, and numbers that hardly differ are rounded by as much as their size. */
export function onOneLine(line: Pairs): 'right' | 'wrong' | 'silent' {
  if (!(line.spreadY > limits.criticSilent.value * Math.max(1, Math.abs(line.meanY)))) return 'silent';
  const off = Math.sqrt(Math.max(0, 1 - line.correlation ** 2));
  const rounded = limits.rounding.value * (Math.abs(line.meanX) / line.spreadX + Math.abs(line.meanY) / line.spreadY);
  return off <= limits.lineOff.value * creditTolerance + rounded || line.spreadX <= limits.criticStill.value
    ? 'right'
    : 'wrong';
}

export function criticSaysTheSame(iteration: Iteration, policy: number): 'right' | 'wrong' | 'silent' {
  const critic = lineOf(iteration, policy, 'value');
  // Where sampling had the very same values, the critic may have changed before it, and they tell nothing.
  if (!critic || critic.same) return 'silent';
  const said = onOneLine(critic.line);
  const targets = said === 'right' ? lineOf(iteration, policy, 'return') : null;
  if (!targets || targets.same || onOneLine(targets.line) !== 'right') return said;
  // Targets in units of their own show which ones the critic should have been brought to.
  const { meanX, meanY, spreadY } = critic.line;
  const meant = targets.line.slope * meanX + targets.line.intercept;
  return Math.abs(meanY - meant) <= limits.unitsApart.value * spreadY ? 'right' : 'wrong';
}

/** A column of the update against that of sampling, over the rows that count of those before the first step, or of others; null where there are too few. */
export function lineOf(
  iteration: Iteration,
  policy: number,
  name: 'value' | 'return',
  rows = iteration.first,
): { line: Pairs; same: boolean } | null {
  const { samples, replays } = iteration;
  const said = replays?.column(name);
  const stored = samples?.column(name);
  if (!replays || !said || !stored) return null;
  const sample = replays.column('sample')!;
  const of = replays.column('policy');
  const weight = replays.column('weight');
  const line = new Pairs();
  let same = true;
  for (const i of rows) {
    // Rows that no loss counts, as those of agents who have left, may have any value.
    if ((of && of[i] !== policy) || weight?.[i] === 0) continue;
    const [x, y] = [stored[sample[i]], said[i]];
    if (!Number.isFinite(x + y)) continue;
    line.add(x, y);
    same &&= Math.abs(x - y) <= limits.rounding.value * (1 + Math.abs(x));
  }
  return line.count < fewestRows ? null : { line, same };
}
