/** A run's curves in one message: at most so many points of each, of every stretch its least and its greatest, so that no spike is lost. Points keep their true places; none is made up. */
import type { Curve } from './curves.ts';

export type Axis = 'iteration' | 'step' | 'elapsed' | 'time';

/** No curve of a message has more points. */
export const mostPoints = 2000;

export interface Cut {
  points: number;
  /** What is in view, in places of the axis; everything where it is left out. */
  axis?: Axis;
  from?: number;
  to?: number;
}

export interface Summary {
  curves: Curve[];
  /** Whether every point in view is there. */
  exact: boolean;
}

/** The places of a curve's points on an axis, as far as they are known. */
export function placesOf(curve: Curve, axis: Axis): Float64Array {
  if (axis === 'iteration') return curve.iteration;
  if (axis === 'step') return curve.step;
  if (axis === 'time') return curve.time;
  const start = curve.time.find(Number.isFinite) ?? Number.NaN;
  return curve.time.map((time) => time - start);
}

export function summarise(curves: readonly Curve[], cut: Cut): Summary {
  let exact = true;
  const cutCurves = curves.map((curve) => {
    const inside = within(curve, cut);
    const kept = extremes(curve.value, inside, Math.min(mostPoints, cut.points));
    if (kept.length < inside.length) exact = false;
    return pick(curve, kept);
  });
  return { curves: cutCurves, exact };
}

/** Rows in view, and one beyond each edge so that lines run out of the picture. */
function within(curve: Curve, { axis = 'iteration', from, to }: Cut): number[] {
  const all = [...curve.value.keys()];
  if (from === undefined || to === undefined) return all;
  const places = placesOf(curve, axis);
  if (!places.some(Number.isFinite)) return all;
  let [first, last] = [all.length, -1];
  for (const i of all)
    if (places[i] >= from && places[i] <= to) {
      first = Math.min(first, i);
      last = Math.max(last, i);
    }
  return last < 0 ? [] : all.slice(Math.max(0, first - 1), last + 2);
}

function extremes(value: Float64Array, rows: number[], points: number): number[] {
  if (rows.length <= points) return rows;
  const kept = new Set<number>([rows[0], rows[rows.length - 1]]);
  const stretches = Math.max(1, Math.floor((points - 2) / 2));
  for (let k = 0; k < stretches; k++) {
    const end = Math.floor(((k + 1) * rows.length) / stretches);
    let [low, high] = [-1, -1];
    for (let i = Math.floor((k * rows.length) / stretches); i < end; i++) {
      const row = rows[i];
      if (Number.isNaN(value[row])) continue;
      if (low < 0 || value[row] < value[low]) low = row;
      if (high < 0 || value[row] > value[high]) high = row;
    }
    if (low >= 0) kept.add(low).add(high);
  }
  return [...kept].sort((a, b) => a - b);
}

function pick(curve: Curve, rows: number[]): Curve {
  const taken = (values: Float64Array) => Float64Array.from(rows, (row) => values[row]);
  const { iteration, step, time, value } = curve;
  return { ...curve, iteration: taken(iteration), step: taken(step), time: taken(time), value: taken(value) };
}

/** What is in view from one summary and what is around it from another, so that a picture that is moved shows a line at once. */
export function refine(whole: readonly Curve[], detail: readonly Curve[], axis: Axis): Curve[] {
  const fine = new Map(detail.map((curve) => [curve.key, curve]));
  return whole.map((curve) => {
    const inner = fine.get(curve.key);
    if (!inner || inner.value.length === 0) return curve;
    const places = placesOf(curve, axis);
    const edges =
      axis === 'elapsed'
        ? inner.time.map((time) => time - (curve.time.find(Number.isFinite) ?? 0))
        : placesOf(inner, axis);
    const [first, last] = [edges[0], edges[edges.length - 1]];
    const before = [...places.keys()].filter((i) => places[i] < first);
    const after = [...places.keys()].filter((i) => places[i] > last);
    const joined = (name: 'iteration' | 'step' | 'time' | 'value') =>
      Float64Array.from([...before.map((i) => curve[name][i]), ...inner[name], ...after.map((i) => curve[name][i])]);
    return {
      ...curve,
      iteration: joined('iteration'),
      step: joined('step'),
      time: joined('time'),
      value: joined('value'),
    };
  });
}

interface Header {
  exact: boolean;
  curves: {
    key: string;
    name: string;
    owner: string;
    kind: Curve['kind'];
    length: number;
    step: boolean;
    time: boolean;
  }[];
}

/** The length of the head, the head as JSON, and the numbers as they lie in memory. */
export function encodeSummary({ curves, exact }: Summary): Uint8Array<ArrayBuffer> {
  const known = (values: Float64Array) => values.some(Number.isFinite);
  const header: Header = {
    exact,
    curves: curves.map(({ key, name, owner, kind, value, step, time }) => ({
      key,
      name,
      owner,
      kind,
      length: value.length,
      step: known(step),
      time: known(time),
    })),
  };
  const head = new TextEncoder().encode(JSON.stringify(header));
  const start = Math.ceil((4 + head.length) / 8) * 8;
  const arrays = curves.flatMap((curve, i) => [
    curve.iteration,
    curve.value,
    ...(header.curves[i].step ? [curve.step] : []),
    ...(header.curves[i].time ? [curve.time] : []),
  ]);
  const bytes = new Uint8Array(start + 8 * arrays.reduce((sum, { length }) => sum + length, 0));
  new DataView(bytes.buffer).setUint32(0, head.length, true);
  bytes.set(head, 4);
  let at = start;
  for (const array of arrays) {
    bytes.set(new Uint8Array(array.buffer, array.byteOffset, array.byteLength), at);
    at += array.byteLength;
  }
  return bytes;
}

export function decodeSummary(bytes: ArrayBuffer): Summary {
  const length = new DataView(bytes).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(bytes, 4, length))) as Header;
  let at = Math.ceil((4 + length) / 8) * 8;
  const next = (count: number) => {
    const array = new Float64Array(bytes, at, count);
    at += 8 * count;
    return array;
  };
  const curves = header.curves.map(({ key, name, owner, kind, length: count, step, time }): Curve => {
    const iteration = next(count);
    const value = next(count);
    const none = () => new Float64Array(count).fill(Number.NaN);
    return {
      key,
      name,
      owner,
      kind,
      iteration,
      value,
      step: step ? next(count) : none(),
      time: time ? next(count) : none(),
    };
  });
  return { curves, exact: header.exact };
}
