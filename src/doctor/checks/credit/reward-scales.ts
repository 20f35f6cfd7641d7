/** What was done to rewards that are not what the environment paid: a factor of their own for some agents, or the bootstrap of a time limit added where no time limit is. */
import type { Iteration } from '../../evidence/iteration.ts';
import type { Numbers } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';

/** The factor of each agent's rewards, where every agent has one for all of its rows and they are not the same; else null. A running figure changes from row to row. */
export function ownFactors({ samples }: Iteration, reward: Numbers, paid: Numbers): Map<number, number> | null {
  const agent = samples!.column('agent')!;
  const found = new Map<number, { least: number; most: number; rows: number }>();
  for (let row = 0; row < samples!.rows; row++) {
    // What is small rounds away.
    if (!(Math.abs(paid[row]) > limits.noticedShare.value) || !Number.isFinite(reward[row])) continue;
    const factor = reward[row] / paid[row];
    const own = found.get(agent[row]);
    if (!own) found.set(agent[row], { least: factor, most: factor, rows: 1 });
    else {
      own.least = Math.min(own.least, factor);
      own.most = Math.max(own.most, factor);
      own.rows++;
    }
  }
  const factors = new Map<number, number>();
  for (const [own, { least, most, rows }] of found) {
    if (rows < limits.fewestSteps.value || least < 0 || most - least > limits.credit.value * most) return null;
    factors.set(own, (least + most) / 2);
  }
  const all = [...factors.values()];
  return Math.max(...all) - Math.min(...all) > limits.formulaSame.value * Math.max(...all) ? factors : null;
}

/** Rows that no time limit cuts off and whose reward holds the discounted value of what follows, which credit adds once more. */
export function bootstrapped({ samples, run }: Iteration, reward: Numbers, paid: Numbers, wrong: Int32Array): number[] {
  const next = samples!.column('next_value');
  const truncated = samples!.column('truncated');
  const gamma = run.number('gamma');
  if (!next || !(gamma > 0)) return [];
  return Array.from(wrong).filter((row) => {
    const given = gamma * next[row];
    const slack = limits.sameReward.value + limits.sameRewardRelative.value * (Math.abs(paid[row]) + Math.abs(given));
    return truncated?.[row] !== 1 && Math.abs(reward[row] - paid[row] - given) <= slack;
  });
}
