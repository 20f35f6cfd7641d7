/** A permutation test for differences between groups, such as seats, when runs differ among themselves: the chance of so large a difference if the groups were alike. */

import { RandomStream } from '../../src/math/random.ts';
import { mean } from '../../src/math/statistics.ts';

/**
 * `values[condition][group]` are the figures of single runs. Runs change groups only within their condition. The statistic is the
 * variance between groups over the whole variance, summed over conditions.
 */
export function groupsDiffer(values: readonly (readonly (readonly number[])[])[], draws: number, seed: number): number {
  const conditions = values.map((groups) => ({ all: groups.flat(), sizes: groups.map((group) => group.length) }));
  const statistic = (runs: readonly (readonly number[])[]) => {
    let total = 0;
    conditions.forEach(({ sizes }, condition) => {
      const all = runs[condition];
      const centre = mean(all);
      const whole = all.reduce((sum, value) => sum + (value - centre) ** 2, 0);
      if (whole === 0) return;
      let between = 0;
      let at = 0;
      for (const size of sizes) {
        between += size * (mean(all.slice(at, at + size)) - centre) ** 2;
        at += size;
      }
      total += between / whole;
    });
    return total;
  };
  const seen = statistic(conditions.map(({ all }) => all));
  const stream = RandomStream.of(seed, 'groups');
  let asLarge = 1;
  for (let draw = 0; draw < draws; draw++) {
    const shuffled = conditions.map(({ all }) => stream.shuffle([...all]));
    // The tolerance counts the arrangement that was seen, whose sums may differ in the last bit.
    if (statistic(shuffled) >= seen - 1e-9) asLarge++;
  }
  return asLarge / (draws + 1);
}
