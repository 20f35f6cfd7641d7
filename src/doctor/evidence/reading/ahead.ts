/** What the rows of an update alone give, whatever the checks remember: a thread that reads ahead computes it, too, and it travels as plain data. */
import { Pairs } from '../../../math/statistics.ts';
import type { StepStat, StepStats } from '../steps/step-stats.ts';

export interface Ahead {
  own: Uint8Array;
  before: Uint8Array | null;
  logCount: Float64Array | null;
  stats: ReadonlyMap<number, StepStat>;
  halves: ReadonlyMap<number, StepStat>;
  clips: ReadonlyMap<number, number>;
}

/** Typed arrays of it, which change hands without being copied. */
export const arraysOf = ({ own, before, logCount }: Ahead) => [own, before, logCount].filter((array) => array !== null);

export function statsOf({ stats, halves }: Ahead): StepStats {
  return { whole: revived(stats), halves: () => revived(halves) };
}

/** Sums of pairs arrive without their methods. */
function revived(stats: ReadonlyMap<number, StepStat>): Map<number, StepStat> {
  const pairs = (plain: Pairs) => Object.assign(new Pairs(), plain);
  return new Map(
    [...stats].map(([key, stat]) => [
      key,
      { ...stat, ratioPairs: pairs(stat.ratioPairs), changePairs: pairs(stat.changePairs) },
    ]),
  );
}
