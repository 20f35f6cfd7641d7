/** Rewards that hold what follows a time limit: some programs add the discounted value of the last state to the reward of the row that was cut off, and treat the row as an end. */
import { fewestRows } from '../check.ts';
import { limits } from '../limits.ts';
import type { Numbers, Rows } from './rows.ts';

/** The rewards without it; null where they hold no such thing. What was paid tells; where it is not known, rewards of few kinds do. */
export function unfolded(samples: Rows, gamma: number): Numbers | null {
  const [reward, next, truncated, paid] = ['reward', 'next_value', 'truncated', 'env_reward'].map((name) =>
    samples.column(name),
  );
  if (!reward || !next || !truncated || !(gamma > 0)) return null;
  const less = (row: number) => reward[row] - gamma * next[row];
  const near = (a: number, b: number) =>
    Math.abs(a - b) <= limits.sameReward.value + limits.sameRewardRelative.value * (Math.abs(a) + Math.abs(b));
  let [cut, held] = [0, 0];
  const kinds = paid ? null : kindsOf(reward, truncated);
  if (!paid && !kinds) return null;
  for (let row = 0; row < samples.rows; row++) {
    if (truncated[row] !== 1 || !Number.isFinite(reward[row] + next[row])) continue;
    cut++;
    if (paid) {
      if (near(less(row), paid[row]) && !near(reward[row], paid[row])) held++;
    } else if (kinds!.some((kind) => near(kind, less(row))) && !kinds!.some((kind) => near(kind, reward[row]))) held++;
  }
  // A value of 0 adds nothing, and tells nothing.
  if (cut < fewestRows || held < limits.nearlyAll.value * cut) return null;
  return Float64Array.from(reward, (value, row) => (truncated[row] === 1 ? less(row) : value));
}

/** The rewards that there are where an episode goes on, if they are few beside the rows. */
function kindsOf(reward: Numbers, truncated: Numbers): number[] | null {
  const kinds = new Set<number>();
  const most = limits.rewardKinds.value;
  let rows = 0;
  for (let row = 0; row < reward.length; row++) {
    if (truncated[row] === 1 || !Number.isFinite(reward[row])) continue;
    rows++;
    kinds.add(reward[row]);
    if (kinds.size > most) return null;
  }
  return kinds.size * fewestRows <= rows ? [...kinds] : null;
}
