/** Credit that was computed from rewards of the row `steps` later in the episode; 0 beyond its ends. */
import { lagged } from '../../../math/chains.ts';
import { type Language, told } from '../transform.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class RewardLag implements CreditTransform {
  readonly id = 'reward-lag';

  constructor(readonly steps: number) {}

  apply({ iteration, rule }: CreditRows): Float64Array | null {
    const { credit, chains } = iteration;
    if (!credit || !chains || !rule) return null;
    const reward = lagged(credit.reward, chains.next, chains.previous, this.steps).map((value) =>
      Number.isNaN(value) ? 0 : value,
    );
    return iteration.advantages('asRecorded', rule, reward);
  }

  describe(language: Language): string {
    return told(
      language,
      `rewards at lag ${this.steps} within (episode, agent)`,
      `奖励在同一回合和智能体内平移 ${this.steps} 步`,
    );
  }
}
