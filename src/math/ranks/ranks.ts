/** Ranks within a block, ties sharing their mean rank; and every arrangement of a block, for exact tests. */

/** Rank 1 is the smallest. Writes into `into` and returns it. */
export function midRanks(
  values: ArrayLike<number>,
  into: Float64Array = new Float64Array(values.length),
): Float64Array {
  const size = values.length;
  for (let i = 0; i < size; i++) {
    let below = 0;
    let same = 0;
    for (let j = 0; j < size; j++) {
      if (values[j] < values[i]) below++;
      else if (values[j] === values[i]) same++;
    }
    into[i] = below + (same + 1) / 2;
  }
  return into;
}

const orders = new Map<number, readonly (readonly number[])[]>();

/** Every order of 0 to size - 1, listed once for all who ask. */
export function permutations(size: number): readonly (readonly number[])[] {
  const known = orders.get(size);
  if (known) return known;
  const all: number[][] = [];
  const extend = (head: number[]) => {
    if (head.length === size) all.push(head);
    for (let next = 0; next < size; next++) if (!head.includes(next)) extend([...head, next]);
  };
  extend([]);
  orders.set(size, all);
  return all;
}

/** The contrast of a linear trend: evenly spaced, of mean 0, falling, so that it is positive where the first is best. */
export function trendWeights(size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => (size - 1) / 2 - i);
}
