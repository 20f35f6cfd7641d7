/** How finely a column tells its numbers. Recordings keep what a program gave in single precision or wider, so half precision shows in the bits alone: every number ends in zeros. */
import { limits } from '../limits.ts';
import type { Numbers } from './rows.ts';

/** Bits of the fraction that each narrower width leaves 0 in single precision, and its relative rounding: half a spacing of the numbers just above a power of two. */
const widths = [
  { zeros: 16, rounding: 2 ** -8 },
  { zeros: 13, rounding: 2 ** -11 },
] as const;

/** Most that a number of this column was rounded by, relative to itself; 0 where it is single precision or wider. */
export function grainOf(column: Numbers | null): number {
  if (!column || column instanceof Int32Array || column instanceof Uint8Array) return 0;
  const single = column instanceof Float32Array ? column : Float32Array.from(column);
  const bits = new Uint32Array(single.buffer, single.byteOffset, single.length);
  let used = 0;
  const different = new Set<number>();
  for (let i = 0; i < bits.length; i++) {
    if (!Number.isFinite(single[i])) continue;
    if (column[i] !== single[i]) return 0;
    used |= bits[i];
    // What single precision gave shows in the first numbers.
    if ((used & 0x1fff) !== 0) return 0;
    if (bits[i] !== bits[i - 1] && different.size < limits.narrowNumbers.value) different.add(bits[i]);
  }
  // Few different numbers, such as rewards of 0 and 1, are exact in any width.
  if (different.size < limits.narrowNumbers.value) return 0;
  return widths.find(({ zeros }) => (used & (2 ** zeros - 1)) === 0)!.rounding;
}
