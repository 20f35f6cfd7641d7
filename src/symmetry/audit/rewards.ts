/** The reward that each row stores against what the environment paid for it, agent by agent. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';

export interface StoredRewards {
  rows: number;
  /** Rows whose stored reward is not what was paid. */
  wrong: number;
  stored: number;
  paid: number;
  /** First iteration with a wrong row; -1 where there is none. */
  onset: number;
  /** Stored over paid, where one factor explains every wrong row; NaN otherwise. */
  factor: number;
  /** Wrong rows that store 0. */
  dropped: number;
}

export class RewardWatch implements Watch<StoredRewards[]> {
  private readonly found: StoredRewards[];
  private readonly factors: { low: number; high: number }[];

  constructor(agents: number) {
    this.found = Array.from({ length: agents }, () => ({
      rows: 0,
      wrong: 0,
      stored: 0,
      paid: 0,
      onset: -1,
      factor: Number.NaN,
      dropped: 0,
    }));
    this.factors = this.found.map(() => ({ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY }));
  }

  iteration({ number, tables }: Slice): void {
    const { samples } = tables;
    const [agent, reward, paid] = ['agent', 'reward', 'env_reward'].map((name) => samples?.column(name));
    if (!samples || !agent || !reward || !paid) return;
    const imagined = samples.column('imagined');
    for (let row = 0; row < samples.rows; row++) {
      const own = this.found[agent[row]];
      if (!own || imagined?.[row] === 1 || Number.isNaN(paid[row])) continue;
      own.rows++;
      own.stored += reward[row];
      own.paid += paid[row];
      if (Math.abs(reward[row] - paid[row]) <= 1e-5 * (1 + Math.abs(paid[row]))) continue;
      own.wrong++;
      if (reward[row] === 0) own.dropped++;
      if (own.onset < 0) own.onset = number;
      const factor = reward[row] / paid[row];
      const range = this.factors[agent[row]];
      range.low = Math.min(range.low, factor);
      range.high = Math.max(range.high, factor);
    }
  }

  finish(): StoredRewards[] {
    return this.found.map((own, agent) => {
      const { low, high } = this.factors[agent];
      const steady = own.wrong > 0 && Number.isFinite(low) && high - low < 1e-4 * Math.abs(high);
      return { ...own, factor: steady ? (low + high) / 2 : Number.NaN };
    });
  }
}
