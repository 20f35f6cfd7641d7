/** Whether figures of equal agents are equal, and who stands out where they are not. */

export interface Unequal {
  /** The agents whose figure is not the one that most have. */
  odd: number[];
  /** The figure that most have; the median where none is shared. */
  common: number;
}

/** Null where all are equal to within `tolerance` times their size, or where fewer than two are known. */
export function unequal(values: readonly number[], tolerance: number): Unequal | null {
  const known = values.filter((value) => !Number.isNaN(value));
  if (known.length < 2) return null;
  const same = (a: number, b: number) => Math.abs(a - b) <= tolerance * Math.max(Math.abs(a), Math.abs(b), 1e-12);
  if (known.every((value) => same(value, known[0]))) return null;
  const votes = known.map((value) => known.filter((other) => same(value, other)).length);
  const most = Math.max(...votes);
  const sorted = [...known].sort((a, b) => a - b);
  const common = most > 1 ? known[votes.indexOf(most)] : sorted[sorted.length >> 1];
  const odd = values.map((_, i) => i).filter((i) => !Number.isNaN(values[i]) && !same(values[i], common));
  return { odd, common };
}
