/** What pictures are made of: plain arrays and texts. Nothing here knows how they are drawn, so the terminal, the HTML report and the studio draw the same data. */

import type { TokenReading } from '../../doctor/tokens/reading.ts';

export interface Panel {
  label: string;
  /** The panel's figures in words. */
  note: string;
  x: number[];
  y: number[];
  /** Rows that the points were taken from. */
  total: number;
}

export interface Scatter {
  kind: 'scatter';
  id: string;
  title: string;
  caption: string;
  xName: string;
  yName: string;
  /** Agreement is the diagonal. */
  diagonal: boolean;
  panels: Panel[];
}

export interface Line {
  name: string;
  x: number[];
  y: number[];
  /** A reference rather than a measurement. */
  reference?: boolean;
}

export interface Lines {
  kind: 'lines';
  id: string;
  title: string;
  caption: string;
  xName: string;
  yName: string;
  /** Drawn by orders of magnitude; 0 has a place of its own below the smallest. */
  logarithmic: boolean;
  /** Along ranks or sizes and not along the run, so that the last point is no newest value. */
  spread?: true;
  lines: Line[];
}

export type Picture = Scatter | Lines;

export type Place = 'inside' | 'below' | 'above';

/** One reading over the run, a line for each policy, with the band in which healthy runs usually are. */
export interface ReadingSeries {
  name: string;
  label: string;
  unit: string;
  formula: string;
  explanation: string;
  band: readonly [number | null, number | null] | null;
  lines: { policy: string; x: number[]; y: number[]; latest: number; place: Place | null }[];
  /** Of the policy that is farthest out; null where there is no band. */
  place: Place | null;
}

export interface Pictures {
  /** Per cause, by its id: the pictures that prove it. */
  proofs: { cause: string; pictures: Picture[] }[];
  /** Of the run as a whole. */
  run: Picture[];
  readings: ReadingSeries[];
  /** Of a language model: what its pictures are drawn from, and the responses that disagree most. */
  tokens?: TokenReading;
}

export const mostPoints = 1200;
export const mostOnLine = 400;

/** At most `limit` entries: the extremes of both axes, and others at even steps. The same rows give the same points. */
export function thinPoints(
  x: ArrayLike<number>,
  y: ArrayLike<number>,
  limit = mostPoints,
): { x: number[]; y: number[] } {
  const finite: number[] = [];
  for (let i = 0; i < x.length; i++) if (Number.isFinite(x[i]) && Number.isFinite(y[i])) finite.push(i);
  let chosen = finite;
  if (finite.length > limit) {
    const kept = new Set<number>();
    for (const column of [x, y]) {
      kept.add(finite.reduce((best, i) => (column[i] < column[best] ? i : best)));
      kept.add(finite.reduce((best, i) => (column[i] > column[best] ? i : best)));
    }
    const room = limit - kept.size;
    for (let k = 0; k < room; k++) kept.add(finite[Math.floor((k * finite.length) / room)]);
    chosen = [...kept].sort((a, b) => a - b);
  }
  return { x: chosen.map((i) => x[i]), y: chosen.map((i) => y[i]) };
}

/** At most about `limit` entries of a line: of every stretch its lowest and its highest. */
export function thinLine(x: readonly number[], y: readonly number[], limit = mostOnLine): { x: number[]; y: number[] } {
  if (x.length <= limit) return { x: [...x], y: [...y] };
  const kept = new Set<number>([0, x.length - 1]);
  const stretches = Math.floor(limit / 2) - 1;
  for (let k = 0; k < stretches; k++) {
    const from = Math.floor((k * x.length) / stretches);
    const to = Math.floor(((k + 1) * x.length) / stretches);
    let [low, high] = [-1, -1];
    for (let i = from; i < to; i++) {
      if (!Number.isFinite(y[i])) continue;
      if (low < 0 || y[i] < y[low]) low = i;
      if (high < 0 || y[i] > y[high]) high = i;
    }
    if (low >= 0) kept.add(low).add(high);
  }
  const chosen = [...kept].sort((a, b) => a - b);
  return { x: chosen.map((i) => x[i]), y: chosen.map((i) => y[i]) };
}

/** Keeps pairs up to a number of them: when it is full, every second is dropped and from then on every second taken. */
export class PairStore {
  readonly x: number[] = [];
  readonly y: number[] = [];
  total = 0;
  private stride = 1;

  constructor(private readonly room = 4096) {}

  add(x: number, y: number): void {
    if (this.total++ % this.stride !== 0) return;
    this.x.push(x);
    this.y.push(y);
    if (this.x.length < this.room) return;
    for (const list of [this.x, this.y]) {
      for (let i = 0; 2 * i < list.length; i++) list[i] = list[2 * i];
      list.length = Math.ceil(list.length / 2);
    }
    this.stride *= 2;
  }
}
