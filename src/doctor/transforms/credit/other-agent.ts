/** Each row uses the number of another agent at the same (episode, t). Each agent may take another's at its own distance, so there are as many ways as other agents. */

import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class OtherAgent implements CreditTransform {
  readonly id = 'other-agent';

  ways({ iteration, own }: Pick<CreditRows, 'iteration' | 'own'>): Float64Array[] {
    const shifts = Math.min(budgets.agents, iteration.run.agentCount) - 1;
    return Array.from({ length: Math.max(0, shifts) }, (_, i) => swapped(iteration, own, i + 1));
  }

  /** The one that comes nearest, row by row. */
  apply(rows: CreditRows): Float64Array | null {
    const { own, target, iteration } = rows;
    if (iteration.run.agentCount === 1) return null;
    const out = new Float64Array(own.length).fill(Number.NaN);
    for (let i = 0; i < own.length; i++)
      for (const other of iteration.others(i))
        if (!(Math.abs(out[i] - target[i]) <= Math.abs(own[other] - target[i]))) out[i] = own[other];
    return out;
  }

  describe(): string {
    return told('another agent at the same (episode, t)', '同一 (episode, t) 上另一个智能体的数值');
  }
}

/** The number of the agent that is `shift` further (cyclically) at the same (episode, t). */
function swapped(iteration: Iteration, own: ArrayLike<number>, shift: number): Float64Array {
  const agents = iteration.run.agentCount;
  const agent = iteration.samples!.column('agent')!;
  return Float64Array.from(own, (_, row) => {
    const other = iteration.others(row).find((candidate) => agent[candidate] === (agent[row] + shift) % agents);
    return other === undefined ? Number.NaN : own[other];
  });
}
