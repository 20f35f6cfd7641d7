/** The discount and lambda that each agent's advantages were made with: A - r + V = gamma V' + gamma lambda A', row by row, two unknowns by least squares. */
import type { Slice } from '../../doctor/evidence/reading/stream.ts';
import type { Watch } from './audit.ts';
import { SquareSums, solvePair } from './least-squares.ts';

export interface CreditRule {
  gamma: number;
  lambda: number;
  /** Share of the left side that the rule does not explain; above 1e-2 it is another rule. */
  residual: number;
  rows: number;
}

export class CreditFit implements Watch<CreditRule[]> {
  private readonly sums: SquareSums[];

  constructor(agents: number) {
    this.sums = Array.from({ length: agents }, () => new SquareSums());
  }

  iteration({ tables }: Slice): void {
    const { samples } = tables;
    const column = (name: string) => samples?.column(name);
    const [agent, episode, t] = [column('agent'), column('episode'), column('t')];
    const [advantage, reward, value, next] = [
      column('advantage'),
      column('reward'),
      column('value'),
      column('next_value'),
    ];
    if (!samples || !agent || !episode || !t || !advantage || !reward || !value) return;
    const [terminated, truncated] = [column('terminated'), column('truncated')];
    const imagined = column('imagined');
    const latest = new Map<number, number>();
    const agents = this.sums.length;
    for (let row = 0; row < samples.rows; row++) {
      if (imagined?.[row] === 1) continue;
      const key = episode[row] * agents + agent[row];
      const before = latest.get(key);
      latest.set(key, row);
      if (before === undefined || t[before] >= t[row]) continue;
      if (terminated?.[before] === 1 || truncated?.[before] === 1) continue;
      const following = next && Number.isFinite(next[before]) ? next[before] : value[row];
      this.sums[agent[row]]?.add(following, advantage[row], advantage[before] - reward[before] + value[before]);
    }
  }

  finish(): CreditRule[] {
    return this.sums.map((sums) => {
      const { a, b, residual } = solvePair(sums);
      return { gamma: a, lambda: b / a, residual, rows: sums.count };
    });
  }
}
