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

export function cellsOf(rows: Int32Array, key: (row: number) => number, fewest: number): Cells {
  const numbers = new Map<number, number>();
  const counts: number[] = [];
  // Rows of one cell mostly follow one another: where such rows begin, and which cell they are of; -1 for rows of none.
  const starts: number[] = [];
  const cells: number[] = [];
  let [latest, cell] = [Number.NaN, Number.NaN];
  for (let i = 0; i < rows.length; i++) {
    const k = key(rows[i]);
    if (k === latest || (cell === -1 && Number.isNaN(k))) continue;
    latest = k;
    cell = Number.isNaN(k) ? -1 : (numbers.get(k) ?? counts.push(0) - 1);
    if (cell >= 0) numbers.set(k, cell);
    starts.push(i);
    cells.push(cell);
  }
  starts.push(rows.length);
  for (let run = 0; run < cells.length; run++) if (cells[run] >= 0) counts[cells[run]] += starts[run + 1] - starts[run];
  const lists: Int32Array[] = counts.map(() => new Int32Array(0));
  const filled = new Int32Array(counts.length);
  for (let run = 0; run < cells.length; run++) {
    const own = cells[run];
    if (own < 0 || counts[own] < fewest) continue;
    const [from, to] = [starts[run], starts[run + 1]];
    if (to - from === counts[own]) lists[own] = rows.subarray(from, to);
    else {
      if (filled[own] === 0) lists[own] = new Int32Array(counts[own]);
      for (let i = from; i < to; i++) lists[own][filled[own]++] = rows[i];
    }
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
  let usable = cell;
  let within = 0;
  for (let i = 0; i < cell.length; i++) if (isFinitePair(x, y, cell[i]) && isInside(y[cell[i]], clamp)) within++;
  // A limit that most rows of a cell are at is none: a choice of two outcomes gives -1 and 1.
  const unlimited = within < limits.most.value * cell.length;
  if (within < cell.length)
    usable = cell.filter((row) => isFinitePair(x, y, row) && (unlimited || isInside(y[row], clamp)));
  const n = usable.length;
  let [sx, sy, sxx, sxy] = [0, 0, 0, 0];
  for (let i = 0; i < n; i++) {
    sx += x[usable[i]];
    sy += y[usable[i]];
  }
  const none = { slope: Number.NaN, intercept: Number.NaN, matched: 0 };
  if (n < limits.fitRows.value) return none;
  const [meanX, meanY] = [sx / n, sy / n];
  for (let i = 0; i < n; i++) {
    const dx = x[usable[i]] - meanX;
    sxx += dx * dx;
    sxy += dx * (y[usable[i]] - meanY);
  }
  if (!(sxx > 0)) return throughPoint(x, y, cell, meanX, meanY, slack, clamp, sign);
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
  for (let i = 0; i < cell.length; i++) if (isOn(x[cell[i]], y[cell[i]], slope, intercept, slack, clamp)) count++;
  return count;
}

const isFinitePair = (x: ArrayLike<number>, y: ArrayLike<number>, row: number) =>
  Number.isFinite(x[row]) && Number.isFinite(y[row]);

const isInside = (y: number, { low, high }: Clamp) => y > low && y < high;

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
