/** Rewards of a language model iteration by iteration: their mean, and the shares of groups without a spread and of answers that were cut. What somebody looks at first; it decides nothing. */
import { limits } from '../limits.ts';
import { finish } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';

export interface RewardsOverTime {
  iteration: number[];
  reward: number[];
  /** Groups of several answers that all have one reward; NaN where there are no groups. */
  flat: number[];
  /** NaN where it is not known how answers ended. */
  cut: number[];
}

/** Null where no reward is known, or all of one iteration. */
export function rewardsOverTime({ responses }: TokenEvidence): RewardsOverTime | null {
  const [iteration, reward, group, ended] = (['iteration', 'reward', 'group', 'finish'] as const).map((name) =>
    responses.column(name),
  );
  const lists = new Map<number, number[]>();
  for (let i = 0; i < responses.rows; i++)
    if (Number.isFinite(reward[i])) {
      const list = lists.get(iteration[i]);
      if (list) list.push(i);
      else lists.set(iteration[i], [i]);
    }
  if (lists.size < 2) return null;
  const out: RewardsOverTime = { iteration: [], reward: [], flat: [], cut: [] };
  for (const [number, rows] of [...lists].sort(([a], [b]) => a - b)) {
    const groups = new Map<number, { low: number; high: number; size: number }>();
    let [sum, cut, known] = [0, 0, 0];
    for (const row of rows) {
      sum += reward[row];
      if (!Number.isNaN(ended[row])) known++;
      if (ended[row] === finish.length) cut++;
      if (Number.isNaN(group[row])) continue;
      const own = groups.get(group[row]) ?? { low: reward[row], high: reward[row], size: 0 };
      groups.set(group[row], own);
      own.low = Math.min(own.low, reward[row]);
      own.high = Math.max(own.high, reward[row]);
      own.size++;
    }
    const several = [...groups.values()].filter(({ size }) => size > 1);
    const flat = several.filter(({ low, high }) => high - low < limits.sameTokenReward.value);
    out.iteration.push(number);
    out.reward.push(sum / rows.length);
    out.flat.push(flat.length / several.length);
    out.cut.push(known > 0 ? cut / known : Number.NaN);
  }
  return out;
}
