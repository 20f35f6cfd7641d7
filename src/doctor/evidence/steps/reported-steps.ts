/** The steps that a program reported, each beside the figures that its rows give. */
import type { Iteration } from '../iteration.ts';
import { keyOf, stepKey } from './step-key.ts';
import type { StepStat } from './step-stats.ts';

/** A step of the `steps` table beside its recomputed figures. */
export interface ReportedStep {
  row: number;
  stat: StepStat;
}

export function reportedSteps(iteration: Iteration): ReportedStep[] {
  const { steps } = iteration;
  if (!steps) return [];
  const epoch = steps.column('epoch')!;
  const minibatch = steps.column('minibatch')!;
  const policy = steps.column('policy');
  const skipped = steps.column('skipped');
  const found: ReportedStep[] = [];
  for (let row = 0; row < steps.rows; row++) {
    if (skipped?.[row] === 1) continue;
    const stat = iteration.stats.get(stepKey(epoch[row], minibatch[row], policy ? policy[row] : 0));
    if (stat) found.push({ row, stat });
  }
  return found;
}

/** The figures of a step over all of its rows, where some have no weight. */
export function unmasked(iteration: Iteration, stat: StepStat): StepStat | undefined {
  return iteration.unweighed?.get(keyOf(stat));
}
