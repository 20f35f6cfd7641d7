/** Whether numbers are all finite, quickly: nearly always they are. */

/** Times 0, what is not finite is NaN, and so is every sum with it: no branch, and four sums that do not wait for one another. */
export function allFinite(values: { readonly [index: number]: number }, from: number, to: number): boolean {
  // Each declared by itself: sums that come out of an array make this loop twice as slow.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = from;
  for (; i + 3 < to; i += 4) {
    a += values[i] * 0;
    b += values[i + 1] * 0;
    c += values[i + 2] * 0;
    d += values[i + 3] * 0;
  }
  for (; i < to; i++) a += values[i] * 0;
  return a + b + c + d === 0;
}

/** All bits but the sign. */
const own = 0x7fffffff;

/** The largest absolute value; NaN where any is. Bits without the sign are in the order of the numbers, infinity and then NaN last. */
export function magnitude(values: Float32Array): number {
  const bits = new Int32Array(values.buffer, values.byteOffset, values.length);
  const largest = new Int32Array(1);
  // Four at a time, which do not wait for one another.
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let i = 0;
  for (; i + 3 < bits.length; i += 4) {
    const [p, q, r, s] = [bits[i] & own, bits[i + 1] & own, bits[i + 2] & own, bits[i + 3] & own];
    if (p > a) a = p;
    if (q > b) b = q;
    if (r > c) c = r;
    if (s > d) d = s;
  }
  for (; i < bits.length; i++) if ((bits[i] & own) > a) a = bits[i] & own;
  largest[0] = Math.max(a, b, c, d);
  return new Float32Array(largest.buffer)[0];
}
