/** Credit that was computed from rewards of the row `steps` later in its chain; 0 beyond its ends. */

import { told } from '../../../language/language.ts';
import { lagged } from '../../../math/chains.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';
import type { Chain } from './lag.ts';

export class RewardLag implements CreditTransform {
  readonly id = 'reward-lag';

  constructor(
    readonly steps: number,
    readonly within: Chain = 'episode',
  ) {}

  apply({ iteration, rule }: CreditRows): Float64Array | null {
    const { credit, chains } = iteration;
    if (!credit || !chains || !rule) return null;
    const stream = this.within === 'stream';
    const moved = stream
      ? lagged(credit.reward, chains.streamNext, chains.streamPrevious, this.steps)
      : lagged(credit.reward, chains.next, chains.previous, this.steps);
    // What came from beyond the rollout is not here; of an episode nothing lies beyond its ends.
    const reward = stream ? moved : moved.map((value) => (Number.isNaN(value) ? 0 : value));
    return iteration.advantages('asRecorded', rule, reward);
  }

  describe(): string {
    return told(
      `rewards at lag ${this.steps} within ${this.within === 'stream' ? 'the (env, agent) stream' : '(episode, agent)'}`,
      `奖励在${this.within === 'stream' ? '同一环境和智能体的序列' : '同一回合和智能体'}内平移 ${this.steps} 步`,
    );
  }
}
