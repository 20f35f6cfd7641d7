/** Rewards that hold what follows a time limit: some programs add the discounted value of the last state to the reward of the row that was cut off, and treat the row as an end. Some take the value of the row itself for it, because the last state is gone by then. */
import { fewestRows } from '../../check.ts';
import { limits } from '../../limits.ts';
import type { Numbers, Rows } from '../rows.ts';
import { type Cut, cutOf, possibleCuts, sameReward } from './reward-cuts.ts';

export interface Folded {
  /** The rewards without it. */
  reward: Numbers;
  /** The values that were taken for those of what follows: their own where a time limit cut off. */
  next: Numbers;
  /** Which column was added. */
  added: 'next_value' | 'value';
}

/** Null where rewards hold no such thing. What was paid tells; where it is not known, rewards of few kinds do. */
export function unfolded(samples: Rows, gamma: number): Folded | null {
  return foldedBy(samples, gamma, 'next_value') ?? foldedBy(samples, gamma, 'value');
}

function foldedBy(samples: Rows, gamma: number, added: Folded['added']): Folded | null {
  const [reward, next, truncated, paid] = ['reward', added, 'truncated', 'env_reward'].map((name) =>
    samples.column(name),
  );
  if (!reward || !next || !truncated || !(gamma > 0)) return null;
  const less = (row: number) => reward[row] - gamma * next[row];
  const near = sameReward;
  const cut = paid && cutBeside(reward, paid, truncated);
  const scaled = paid && scales(reward, paid, truncated);
  let [limited, held] = [0, 0];
  const kinds = paid ? null : kindsOf(reward, truncated);
  if (!paid && !kinds) return null;
  for (let row = 0; row < samples.rows; row++) {
    if (truncated[row] !== 1 || !Number.isFinite(reward[row] + next[row])) continue;
    if (paid) {
      const holds = (owed: number, about: number) => near(less(row), owed, about) && !near(reward[row], owed, about);
      const { scale, slack } = scaled!(row);
      const about = slack * Math.abs(paid[row]);
      // Where the scale is not known as closely, anything may be there.
      const known = about <= limits.foldedDrift.value * Math.abs(gamma * next[row]);
      const folded = holds(paid[row], 0) || (cut ? holds(cut(paid[row]), 0) : known && holds(scale * paid[row], about));
      if (known || folded || cut) limited++;
      if (folded) held++;
    } else {
      limited++;
      if (kinds!.some((kind) => near(kind, less(row))) && !kinds!.some((kind) => near(kind, reward[row]))) held++;
    }
  }
  // A value of 0 adds nothing, and tells nothing. What was paid tells of a single row; kinds of reward agree by chance.
  if (limited < (paid ? 1 : fewestRows) || held < limits.nearlyAll.value * limited) return null;
  const following = samples.column('next_value');
  return {
    reward: Float64Array.from(reward, (value, row) => (truncated[row] === 1 ? less(row) : value)),
    next: Float64Array.from(next, (value, row) => (truncated[row] === 1 ? value : (following?.[row] ?? Number.NaN))),
    added,
  };
}

/** The cut of the rewards where no time limit is, if some of them were cut. */
function cutBeside(reward: Numbers, paid: Numbers, truncated: Numbers): Cut | null {
  const rows: number[] = [];
  for (let row = 0; row < reward.length; row++)
    if (truncated[row] !== 1 && Number.isFinite(reward[row] + paid[row]) && !sameReward(reward[row], paid[row]))
      rows.push(row);
  return rows.length >= fewestRows ? cutOf(possibleCuts(reward, truncated), reward, paid, rows) : null;
}

/** What rewards are divided by around a row that was cut off: a running figure is between those of the rows on both sides of it, or as near to them as they are to each other. */
function scales(reward: Numbers, paid: Numbers, truncated: Numbers): (row: number) => { scale: number; slack: number } {
  const factor = (row: number) =>
    truncated[row] === 1 || Math.abs(paid[row]) <= limits.sameReward.value ? Number.NaN : reward[row] / paid[row];
  const from = (row: number, by: 1 | -1) => {
    let at = row + by;
    while (at >= 0 && at < reward.length && !Number.isFinite(factor(at))) at += by;
    return at;
  };
  return (row) => {
    const sides = [from(row, -1), from(row, 1)].filter((at) => Number.isFinite(factor(at)));
    if (sides.length === 2) {
      const [before, after] = sides.map(factor);
      return { scale: (before + after) / 2, slack: Math.abs(before - after) };
    }
    // The last rows have others on one side only: how far the figure runs is told by as many rows before those, and twice that is room enough.
    const [side] = sides;
    const mirrored = from(2 * side - row + Math.sign(row - side), side < row ? -1 : 1);
    return { scale: factor(side), slack: 2 * Math.abs(factor(side) - factor(mirrored)) };
  };
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
