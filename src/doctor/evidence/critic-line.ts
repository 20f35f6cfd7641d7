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
  const { samples, replays, first } = iteration;
  const said = replays?.column('value');
  const stored = samples?.column('value');
  if (!replays || !said || !stored) return 'silent';
  const sample = replays.column('sample')!;
  const of = replays.column('policy');
  const line = new Pairs();
  let same = true;
  for (const i of first) {
    if (of && of[i] !== policy) continue;
    const [x, y] = [stored[sample[i]], said[i]];
    if (!Number.isFinite(x + y)) continue;
    line.add(x, y);
    same &&= Math.abs(x - y) <= limits.rounding.value * (1 + Math.abs(x));
  }
  // Where sampling had the very same values, the critic may have changed before it, and they tell nothing.
  return line.count < fewestRows || same ? 'silent' : onOneLine(line);
}
