/** Least and greatest values of a curve at every scale, so that a million points are drawn as a few thousand and no spike is lost. Places must not fall. */

/** How many entries of one level become one of the next. */
const fan = 8;

export class Pyramid {
  /** Level 0 is the curve itself; an entry of level k covers `fan ** k` points. */
  private readonly least: Float64Array[];
  private readonly greatest: Float64Array[];

  constructor(
    readonly x: Float64Array,
    readonly y: Float64Array,
  ) {
    this.least = [y];
    this.greatest = [y];
    while (this.least[this.least.length - 1].length > fan) {
      const below = this.least[this.least.length - 1];
      const above = this.greatest[this.greatest.length - 1];
      const length = Math.ceil(below.length / fan);
      const low = new Float64Array(length).fill(Number.POSITIVE_INFINITY);
      const high = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
      for (let i = 0; i < below.length; i++) {
        const to = Math.floor(i / fan);
        // A gap (NaN) is smaller and greater than nothing.
        if (below[i] < low[to]) low[to] = below[i];
        if (above[i] > high[to]) high[to] = above[i];
      }
      this.least.push(low);
      this.greatest.push(high);
    }
  }

  /** Index of the first point at or after a place. */
  first(place: number): number {
    let low = 0;
    let high = this.x.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.x[middle] < place) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Least and greatest value of the points from `start` up to, not including, `end`; infinite the wrong way round where there is none. */
  range(start: number, end: number): [least: number, greatest: number] {
    let low = Number.POSITIVE_INFINITY;
    let high = Number.NEGATIVE_INFINITY;
    let level = 0;
    const take = (i: number) => {
      if (this.least[level][i] < low) low = this.least[level][i];
      if (this.greatest[level][i] > high) high = this.greatest[level][i];
    };
    while (start < end) {
      if (level === this.least.length - 1 || end - start <= 2 * fan) {
        for (let i = start; i < end; i++) take(i);
        break;
      }
      while (start % fan !== 0) take(start++);
      while (end % fan !== 0) take(--end);
      start /= fan;
      end /= fan;
      level++;
    }
    return [low, high];
  }
}

/** Curves on one grid of places, as a plot wants them: first the places, then the values of each, NaN where there is none. */
export interface Thinned {
  x: Float64Array;
  ys: Float64Array[];
  /** Whether every point in view is there. */
  exact: boolean;
}

/**
 * What to draw of several curves between two places on so many columns of pixels. Few points are given as they are, on the union of their
 * places; of many, each column gives its least and its greatest value.
 */
export function thin(curves: readonly Pyramid[], from: number, to: number, columns: number): Thinned {
  const spans = curves.map((curve) => {
    // One point beyond each edge, so that lines run out of the picture.
    const start = Math.max(0, curve.first(from) - 1);
    let end = curve.first(to);
    if (end < curve.x.length) end++;
    return [start, Math.min(curve.x.length, end)] as const;
  });
  const points = Math.max(0, ...spans.map(([start, end]) => end - start));
  return points <= 2 * columns ? exactly(curves, spans) : byColumn(curves, from, to, columns);
}

function exactly(curves: readonly Pyramid[], spans: readonly (readonly [number, number])[]): Thinned {
  const places = new Set<number>();
  curves.forEach(({ x }, c) => {
    for (let i = spans[c][0]; i < spans[c][1]; i++) places.add(x[i]);
  });
  const x = Float64Array.from(places).sort();
  const ys = curves.map((curve, c) => {
    const out = new Float64Array(x.length).fill(Number.NaN);
    let at = 0;
    for (let i = spans[c][0]; i < spans[c][1]; i++) {
      while (x[at] < curve.x[i]) at++;
      out[at] = curve.y[i];
    }
    return out;
  });
  return { x, ys, exact: true };
}

function byColumn(curves: readonly Pyramid[], from: number, to: number, columns: number): Thinned {
  const x = new Float64Array(2 * columns);
  const width = (to - from) / columns;
  for (let i = 0; i < x.length; i++) x[i] = from + (i * width) / 2;
  const ys = curves.map((curve) => {
    const out = new Float64Array(x.length).fill(Number.NaN);
    let start = curve.first(from);
    for (let column = 0; column < columns; column++) {
      const end = column === columns - 1 ? curve.first(to) : curve.first(from + (column + 1) * width);
      const [low, high] = curve.range(start, end);
      if (low <= high) {
        // Rising or falling within the column, so that the line does not zigzag more than the curve.
        const rising = !(curve.y[start] > curve.y[end - 1]);
        out[2 * column] = rising ? low : high;
        out[2 * column + 1] = rising ? high : low;
      }
      start = end;
    }
    return out;
  });
  return { x, ys, exact: false };
}
