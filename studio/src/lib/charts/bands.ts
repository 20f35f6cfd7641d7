/** Several seeds of one setting as a band: mean, least and greatest at the places that most of them have, with how many there are. */

export interface Line {
  x: Float64Array;
  y: Float64Array;
}

export interface Band {
  x: Float64Array;
  mean: Float64Array;
  least: Float64Array;
  greatest: Float64Array;
  /** Curves that reach each place. */
  count: Int32Array;
}

/** Curves are read between their points by straight lines, and nowhere beyond their ends. */
export function bandOf(lines: readonly Line[]): Band {
  const longest = lines.reduce((best, line) => (line.x.length > best.x.length ? line : best), lines[0]);
  const { x } = longest;
  const mean = new Float64Array(x.length);
  const least = new Float64Array(x.length).fill(Number.NaN);
  const greatest = new Float64Array(x.length).fill(Number.NaN);
  const count = new Int32Array(x.length);
  for (const line of lines) {
    let at = 0;
    for (let i = 0; i < x.length; i++) {
      while (at + 1 < line.x.length && line.x[at + 1] <= x[i]) at++;
      const value = between(line, at, x[i]);
      if (!Number.isFinite(value)) continue;
      count[i]++;
      mean[i] += (value - mean[i]) / count[i];
      if (!(least[i] <= value)) least[i] = value;
      if (!(greatest[i] >= value)) greatest[i] = value;
    }
  }
  for (let i = 0; i < x.length; i++) if (count[i] === 0) mean[i] = Number.NaN;
  return { x, mean, least, greatest, count };
}

function between({ x, y }: Line, at: number, place: number): number {
  if (x.length === 0 || place < x[0] || place > x[x.length - 1]) return Number.NaN;
  if (at + 1 >= x.length || x[at] === place) return y[at];
  const share = (place - x[at]) / (x[at + 1] - x[at]);
  return y[at] + share * (y[at + 1] - y[at]);
}

/** The difference of two curves where both are, at the places of the first. */
export function difference(a: Line, b: Line): Line {
  const out = new Float64Array(a.x.length);
  let at = 0;
  for (let i = 0; i < out.length; i++) {
    while (at + 1 < b.x.length && b.x[at + 1] <= a.x[i]) at++;
    out[i] = a.y[i] - between(b, at, a.x[i]);
  }
  return { x: a.x, y: out };
}
