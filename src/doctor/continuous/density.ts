/** Log-probabilities of continuous actions, recomputed from means, deviations and actions under the formulas that programs use. A `Form` says which of them; `usual` is the healthy one. */
import type { Lists, Rows } from '../evidence/rows.ts';
import { limits } from '../limits.ts';

/** How the dimensions become one number. */
export type Reduce = 'sum' | 'mean' | 'first' | 'last';
/** What stands for the deviation: its own, the deviation's exponential (it was taken for its logarithm), its square, its root, 1. */
export type Deviation = 'own' | 'exponential' | 'variance' | 'root' | 'unit';
/** Which action is scored. */
export type Scored = 'raw' | 'given';

export interface Form {
  readonly reduce: Reduce;
  readonly deviation: Deviation;
  readonly action: Scored;
  /** How often the logarithm of tanh's derivative is taken off. */
  readonly squash: number;
  /** Whether the factor after tanh is part of it. */
  readonly scaled: boolean;
}

export const usual: Form = { reduce: 'sum', deviation: 'own', action: 'raw', squash: 0, scaled: false };

/** What the environment makes of an action, per dimension: `given = times * f(raw) + plus`. */
export interface Given {
  readonly how: 'same' | 'clipped' | 'squashed' | 'scaled';
  readonly times: Float64Array;
}

/** One row's action and distribution; views that move along. */
export interface Row {
  action: Float64Array;
  given: Float64Array | null;
  mean: Float64Array;
  logStd: Float64Array;
}

const halfLogTau = Math.log(2 * Math.PI) / 2;

export function deviationOf(kind: Deviation, logStd: number): number {
  switch (kind) {
    case 'own':
      return Math.exp(logStd);
    case 'exponential':
      return Math.exp(Math.exp(logStd));
    case 'variance':
      return Math.exp(2 * logStd);
    case 'root':
      return Math.exp(logStd / 2);
    case 'unit':
      return 1;
  }
}

/** The logarithm of tanh's derivative at u, exact where 1 - tanh² has no digits left. */
const logDerivative = (u: number) => {
  const size = Math.abs(u);
  return 2 * (Math.LN2 - size - Math.log1p(Math.exp(-2 * size)));
};

/** A row's log-probability under a form; and how far an epsilon beside tanh's derivative may move it. */
export function logpOf(
  form: Form,
  { action, given, mean, logStd }: Row,
  how: Given | null,
): [logp: number, slack: number] {
  const scored = form.action === 'given' ? given : action;
  if (!scored) return [Number.NaN, 0];
  const dimensions = action.length;
  let [total, slack] = [0, 0];
  const first = form.reduce === 'last' ? dimensions - 1 : 0;
  const end = form.reduce === 'first' ? 1 : dimensions;
  for (let d = first; d < end; d++) {
    const deviation = deviationOf(form.deviation, logStd[d]);
    const z = (scored[d] - mean[d]) / deviation;
    total += -(z * z) / 2 - Math.log(deviation) - halfLogTau;
    if (form.squash === 0) continue;
    const derivative = logDerivative(action[d]);
    total -= form.squash * (derivative + (form.scaled ? Math.log(how?.times[d] ?? 1) : 0));
    slack += Math.abs(form.squash) * Math.log1p(limits.squashEpsilon.value / Math.exp(derivative));
  }
  return form.reduce === 'mean' ? [total / dimensions, slack / dimensions] : [total, slack];
}

/** The entropy of a Gaussian with these deviations. */
export function entropyOf(reduce: Reduce, kind: Deviation, logStd: ArrayLike<number>): number {
  let total = 0;
  const first = reduce === 'last' ? logStd.length - 1 : 0;
  const end = reduce === 'first' ? 1 : logStd.length;
  for (let d = first; d < end; d++) total += 1 / 2 + halfLogTau + Math.log(deviationOf(kind, logStd[d]));
  return reduce === 'mean' ? total / logStd.length : total;
}

/** The list of one row as numbers; null where it has none, or another width. */
export function vector(lists: Lists | null, row: number, width?: number): Float64Array | null {
  if (!lists) return null;
  const [from, to] = [lists.offsets[row], lists.offsets[row + 1]];
  if (to === from || (width !== undefined && to - from !== width)) return null;
  const out = new Float64Array(to - from);
  for (let i = from; i < to; i++) out[i - from] = lists.values[i];
  return out;
}

/** What the environment was given of the actions of some rows; null where no rule holds for all of them. */
export function givenBy(samples: Rows, few: readonly number[]): Given | null {
  const [raw, given] = [samples.list('action_values'), samples.list('env_action')];
  if (!raw || !given || few.length < limits.fewestRows.value) return null;
  const width = raw.offsets[few[0] + 1] - raw.offsets[few[0]];
  const times = new Float64Array(width).fill(1);
  let how: Given['how'] | null = null;
  for (let d = 0; d < width; d++) {
    const x = few.map((row) => raw.values[raw.offsets[row] + d]);
    const y = few.map((row) => given.values[given.offsets[row] + d]);
    if (y.some((value) => value === undefined)) return null;
    const [low, high] = [Math.min(...y), Math.max(...y)];
    const own: Given['how'] | null = x.every((value, i) => near(value, y[i]))
      ? 'same'
      : x.every((value, i) => near(Math.min(high, Math.max(low, value)), y[i]))
        ? 'clipped'
        : fits(x.map(Math.tanh), y)
          ? 'squashed'
          : fits(x, y)
            ? 'scaled'
            : null;
    if (!own) return null;
    if (own === 'squashed') times[d] = slope(x.map(Math.tanh), y);
    if (own === 'scaled') times[d] = slope(x, y);
    // One that is the same in this dimension may be clipped in another.
    how = how === null || how === 'same' ? own : own === 'same' ? how : own === how ? how : null;
    if (how === null) return null;
  }
  return how ? { how, times } : null;
}

const near = (a: number, b: number) => Math.abs(a - b) <= limits.sameAction.value * (1 + Math.abs(b));

function slope(x: readonly number[], y: readonly number[]): number {
  const [mx, my] = [x.reduce((a, b) => a + b, 0) / x.length, y.reduce((a, b) => a + b, 0) / y.length];
  let [xy, xx] = [0, 0];
  for (let i = 0; i < x.length; i++) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) ** 2;
  }
  return xx > 0 ? xy / xx : Number.NaN;
}

function fits(x: readonly number[], y: readonly number[]): boolean {
  const times = slope(x, y);
  const plus = y.reduce((a, b) => a + b, 0) / y.length - (times * x.reduce((a, b) => a + b, 0)) / x.length;
  return times > 0 && x.every((value, i) => near(times * value + plus, y[i]));
}
