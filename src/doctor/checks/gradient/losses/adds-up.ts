/** Whether a step's whole loss is what its parts give with the declared coefficients: then nothing else entered the gradient, and what was told of each part is what was used. */
import { budgets } from '../../../budgets.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Run } from '../../../evidence/run.ts';
import type { StepStat } from '../../../evidence/steps/step-stats.ts';
import { limits } from '../../../limits.ts';

/** `row` is the step's place in the table of steps. */
export function addsUp(run: Run, { steps }: Iteration, row: number, stat: StepStat): boolean {
  const [whole, policy] = ['loss', 'policy_loss'].map((name) => steps?.column(name)?.[row] ?? Number.NaN);
  const told = steps?.column('value_loss')?.[row];
  const value = told === undefined || Number.isNaN(told) ? 0 : told;
  const bonus = run.number('entropy_coefficient');
  const entropy = bonus === 0 ? 0 : (steps?.column('entropy')?.[row] ?? stat.entropy);
  const weights = value === 0 ? [0] : [run.number('value_coefficient'), ...budgets.valueWeights];
  return weights.some((weight) => {
    const noise = limits.lossNoise.value * (Math.abs(whole) + Math.abs(policy) + Math.abs(weight * value));
    return Math.abs(whole - (policy + weight * value - bonus * entropy)) <= noise;
  });
}
