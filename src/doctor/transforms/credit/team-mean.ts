/** The mean over the agents of one step: taken out of each one's credit, or put in its place. */

import { told } from '../../../language/language.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class TeamMean implements CreditTransform {
  readonly id = 'team-mean';

  constructor(readonly way: 'less' | 'instead') {}

  apply({ iteration, own }: Pick<CreditRows, 'iteration' | 'own'>): Float64Array | null {
    if (iteration.run.agentCount === 1) return null;
    return Float64Array.from(own, (credit, row) => {
      const others = iteration.others(row);
      if (others.length === 0) return Number.NaN;
      const mean = others.reduce((sum, other) => sum + own[other], credit) / (others.length + 1);
      return this.way === 'less' ? credit - mean : mean;
    });
  }

  describe(): string {
    return this.way === 'less'
      ? told('less the mean over the agents of the step', '减去该步所有智能体的均值')
      : told('mean over the agents of the step', '该步所有智能体的均值');
  }
}
