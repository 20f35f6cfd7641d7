/** Each row uses the number of the row `steps` later in its chain; earlier where negative. */

import { told } from '../../../language/language.ts';
import { lagged } from '../../../math/chains.ts';
import { budgets } from '../../budgets.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

/** The same agent's rows of one episode, or of one environment across episodes. */
export type Chain = 'episode' | 'stream';

export class Lag implements CreditTransform {
  readonly id = 'lag';

  constructor(
    readonly steps: number,
    readonly within: Chain,
  ) {}

  apply({ iteration, own }: Pick<CreditRows, 'iteration' | 'own'>): Float64Array | null {
    const { chains } = iteration;
    if (!chains) return null;
    return this.within === 'episode'
      ? lagged(own, chains.next, chains.previous, this.steps)
      : lagged(own, chains.streamNext, chains.streamPrevious, this.steps);
  }

  describe(): string {
    const stream = this.within === 'stream';
    return told(
      `lag ${this.steps} within ${stream ? 'the (env, agent) stream' : '(episode, agent)'}`,
      `在${stream ? '同一环境和智能体的序列' : '同一回合和智能体'}内平移 ${this.steps} 步`,
    );
  }
}

export const { lags } = budgets;
/** Those that are tried where each costs a pass over the episodes. */
export const nearLags = lags.slice(0, budgets.nearLags);
