/** Whether one line through a cell of rows maps one column to another. Found by consensus, so a share of wrong rows does not hide the line of the right ones. */
import { budgets } from '../budgets.ts';
import { limits } from '../limits.ts';

export interface Line {
  slope: number;
  intercept: number;
  /** Rows of the cell on the line. */
  matched: number;
}

export interface Cells {
  /** Row numbers by cell. */
  lists: Int32Array[];
}

export function cellsOf(rows: ArrayLike<number>, key: (row: number) => number, fewest: number): Cells {
  const numbers = new Map<number, number>();
  const cells = new Int32Array(rows.length);
  const counts: number[] = [];
  let latest = Number.NaN;
  let cell = -1;
  for (let i = 0; i < rows.length; i++) {
    const k = key(rows[i]);
    if (Number.isNaN(k)) {
      cells[i] = -1;
      continue;
    }
    // Rows of one cell mostly follow one another.
    if (k !== latest) {
      latest = k;
      cell = numbers.get(k) ?? counts.push(0) - 1;
      numbers.set(k, cell);
    }
    cells[i] = cell;
    counts[cell]++;
  }
  const lists = counts.map((count) => new Int32Array(count >= fewest ? count : 0));
  const filled = new Int32Array(counts.length);
  for (let i = 0; i < cells.length; i++) {
    const own = cells[i];
    if (own >= 0 && counts[own] >= fewest) lists[own][filled[own]++] = rows[i];
  }
  return { lists: lists.filter((list) => list.length > 0) };
}

/** Where y was cut off; infinite where it was not. */
export interface Clamp {
  low: number;
  high: number;
}

/** The line y = slope x + intercept that most rows of the cell lie on. `sign` restricts the slope. */
export function consensus(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  cell: Int32Array,
  slack: number,
  clamp: Clamp,
  sign: 1 | -1,
): Line {
  let usable = new Int32Array(cell.length);
  let n = 0;
  for (const row of cell)
    if (Number.isFinite(x[row]) && Number.isFinite(y[row]) && y[row] > clamp.low && y[row] < clamp.high)
      usable[n++] = row;
  // A limit that most rows of a cell are at is none: a choice of two outcomes gives -1 and 1.
  if (n < limits.most.value * cell.length) {
    n = 0;
    for (const row of cell) if (Number.isFinite(x[row]) && Number.isFinite(y[row])) usable[n++] = row;
  }
  usable = usable.subarray(0, n);
  let [sx, sy, sxx, sxy] = [0, 0, 0, 0];
  for (const row of usable) {
    sx += x[row];
    sy += y[row];
  }
  const none = { slope: Number.NaN, intercept: Number.NaN, matched: 0 };
  if (n < limits.fitRows.value) return none;
  for (const row of usable) {
    sxx += (x[row] - sx / n) ** 2;
    sxy += (x[row] - sx / n) * (y[row] - sy / n);
  }
  if (!(sxx > 0)) return throughPoint(x, y, cell, sx / n, sy / n, slack, clamp, sign);
  const spread = Math.sqrt(sxx / n);
  let best: Line = none;
  const attempt = (slope: number, intercept: number) => {
    // A flat line says nothing about x.
    if (!(slope * sign > 0) || Math.abs(slope) * spread < limits.flatLine.value * slack) return;
    const matched = countOn(x, y, cell, slope, intercept, slack, clamp);
    if (matched > best.matched) best = { slope, intercept, matched };
  };
  const slope = sxy / sxx;
  attempt(slope, sy / n - (slope * sx) / n);
  // Pairs at fixed strides: no randomness, so equal rows give equal results.
  for (let k = 0; k < budgets.lines && best.matched < budgets.lineEnough * cell.length; k++) {
    const [one, other] = budgets.lineStrides;
    const a = usable[(k * one) % n];
    const b = usable[(k * other + (n >> 1) + k) % n];
    if (Math.abs(x[a] - x[b]) < limits.apartRows.value * spread) continue;
    const s = (y[a] - y[b]) / (x[a] - x[b]);
    attempt(s, y[a] - s * x[a]);
  }
  return best;
}

/** All rows within the limits are one point, so only rows at a limit tell a slope: the least with which all of them reach it. */
function throughPoint(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  cell: Int32Array,
  x0: number,
  y0: number,
  slack: number,
  clamp: Clamp,
  sign: 1 | -1,
): Line {
  let steepest = 0;
  for (const row of cell) {
    const slope = (y[row] - y0) / (x[row] - x0);
    if (Number.isFinite(slope) && slope * sign > steepest) steepest = slope * sign;
  }
  const slope = sign * steepest;
  const intercept = y0 - slope * x0;
  return { slope, intercept, matched: countOn(x, y, cell, slope, intercept, slack, clamp) };
}

export function isOn(x: number, y: number, slope: number, intercept: number, slack: number, clamp: Clamp): boolean {
  const line = slope * x + intercept;
  return Math.abs(Math.max(clamp.low, Math.min(clamp.high, line)) - y) <= slack;
}

function countOn(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  cell: Int32Array,
  slope: number,
  intercept: number,
  slack: number,
  clamp: Clamp,
): number {
  let count = 0;
  for (const row of cell) if (isOn(x[row], y[row], slope, intercept, slack, clamp)) count++;
  return count;
}

/** An extreme that several rows share is a clamp. */
export function findClamp(y: ArrayLike<number>, rows: ArrayLike<number>): Clamp {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (let i = 0; i < rows.length; i++) {
    const value = y[rows[i]];
    if (value < low) low = value;
    if (value > high) high = value;
  }
  let [lows, highs] = [0, 0];
  for (let i = 0; i < rows.length; i++) {
    if (y[rows[i]] === low) lows++;
    if (y[rows[i]] === high) highs++;
  }
  // Only a clamp is the same on both sides, or many rows deep.
  const both = Math.abs(low + high) < limits.rounding.value * Math.abs(high);
  const few = limits.clampRows.value * rows.length;
  return {
    low: lows > 1 && lows < few && both ? low : Number.NEGATIVE_INFINITY,
    high: highs > 1 && highs < few && both ? high : Number.POSITIVE_INFINITY,
  };
}
