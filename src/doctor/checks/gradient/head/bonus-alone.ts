/** Whether an entropy bonus whose weight nobody declared moves the head alone: its gradient is then the same multiple of the bonus's in every step of an iteration, whatever the advantages are. */

import { median } from '../../../../math/statistics.ts';
import { listOf } from '../../../evidence/keys.ts';
import type { ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';

interface Step {
  iteration: number;
  /** Lengths of the gradient: as recorded, by the whole loss, and of a bonus with weight 1. */
  norm: number;
  whole: number;
  unit: number;
}

export class BonusAlone {
  private readonly policies = new Map<number, Step[]>();

  step(policy: number, step: Step): void {
    listOf(this.policies, policy).push(step);
  }

  /** The steps that one weight explains, or one weight for each iteration, as of a schedule; 0 where the whole loss explains some of them. */
  steady(policy: number, fine: number, slack: number, proof: ProofStore): number {
    const steps = this.policies.get(policy) ?? [];
    if (steps.some(({ norm, whole }) => Math.abs(norm - whole) <= slack * whole)) return 0;
    const byIteration = new Map<number, Step[]>();
    for (const step of steps) listOf(byIteration, step.iteration).push(step);
    const groups = isSteady(steps, fine) ? [steps] : [...byIteration.values()].filter((group) => isSteady(group, fine));
    let count = 0;
    for (const group of groups) {
      const weight = weightOf(group);
      for (const { norm, whole, unit } of group) proof.step(norm, whole, weight * unit);
      count += group.length;
    }
    return count;
  }
}

const weightOf = (steps: readonly Step[]) => median(steps.map(({ norm, unit }) => norm / unit));

function isSteady(steps: readonly Step[], fine: number): boolean {
  if (steps.length < limits.fewestSteps.value) return false;
  const weight = weightOf(steps);
  return steps.every(({ norm, unit }) => Math.abs(norm - weight * unit) <= fine * norm);
}
