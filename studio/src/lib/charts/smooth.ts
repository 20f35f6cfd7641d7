/** A curve with its noise taken out by an exponential mean that has no memory before the first point. */
export function smooth(y: Float64Array, weight: number): Float64Array {
  if (weight <= 0) return y;
  const out = new Float64Array(y.length);
  let mean = 0;
  let sum = 0;
  for (let i = 0; i < y.length; i++) {
    if (Number.isFinite(y[i])) {
      mean = weight * mean + (1 - weight) * y[i];
      sum = weight * sum + (1 - weight);
      out[i] = mean / sum;
    } else {
      // A gap stays a gap, and is forgotten.
      out[i] = y[i];
    }
  }
  return out;
}
