/** What programs cut of what was paid before they learn from it: all beyond two bounds, or all but the sign. Bounds are those of the rewards that there are, so a reward that was never cut has them, too. */
import { limits } from '../../limits.ts';
import type { Numbers } from '../rows.ts';

export type Cut = (paid: number) => number;

/** The cuts that these rewards could have; rows that are `apart`, as those that hold a bootstrap, tell nothing of the bounds. */
export function possibleCuts(reward: Numbers, apart?: Numbers | null): Cut[] {
  let [low, high, signs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, true];
  for (let row = 0; row < reward.length; row++) {
    const own = reward[row];
    if (apart?.[row] === 1 || !Number.isFinite(own)) continue;
    if (own < low) low = own;
    if (own > high) high = own;
    if (Math.sign(own) !== own) signs = false;
  }
  if (!(low <= high)) return [];
  return [(paid) => Math.min(high, Math.max(low, paid)), ...(signs ? [Math.sign] : [])];
}

/** The cut by which nearly all of these rows are what was paid; null where none is. */
export function cutOf(cuts: readonly Cut[], reward: Numbers, paid: Numbers, rows: ArrayLike<number>): Cut | null {
  const fits = (cut: Cut) => {
    let same = 0;
    for (let i = 0; i < rows.length; i++) if (sameReward(reward[rows[i]], cut(paid[rows[i]]))) same++;
    return same >= limits.exactly.value * rows.length;
  };
  return cuts.find(fits) ?? null;
}

export const sameReward = (a: number, b: number, slack = 0): boolean =>
  Math.abs(a - b) <= slack + limits.sameReward.value + limits.sameRewardRelative.value * (Math.abs(a) + Math.abs(b));
