/** Log-probabilities of continuous actions, recomputed from their distributions under the formulas that programs use. A `Form` says which of them; `usual` is the healthy one. */
import { type Line, lineThrough } from '../../math/linear.ts';
import type { Rows } from '../evidence/rows.ts';
import { limits } from '../limits.ts';
import type { Deviation, Law } from './laws.ts';

/** How the dimensions become one number. */
export type Reduce = 'sum' | 'mean' | 'first' | 'last';
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

/** What the environment makes of an action, per dimension: `given = times * f(raw) + plus`; `changed` where that is no rule that is known here. */
export interface Given {
  readonly how: 'same' | 'clipped' | 'squashed' | 'scaled' | 'changed';
  readonly times: Float64Array;
}

/** One row's action and distribution. */
export interface Row {
  action: Float64Array;
  given: Float64Array | null;
  law: Law;
}

/** The logarithm of tanh's derivative at u, exact where 1 - tanh² has no digits left. */
export const logDerivative = (u: number) => {
  const size = Math.abs(u);
  return 2 * (Math.LN2 - size - Math.log1p(Math.exp(-2 * size)));
};

/** A row's log-probability under a form; and how far an epsilon beside tanh's derivative may move it. */
export function logpOf(form: Form, { action, given, law }: Row, how: Given | null): [logp: number, slack: number] {
  const scored = form.action === 'given' ? given : action;
  if (!scored) return [Number.NaN, 0];
  const dimensions = action.length;
  let [total, slack] = [0, 0];
  const first = form.reduce === 'last' ? dimensions - 1 : 0;
  const end = form.reduce === 'first' ? 1 : dimensions;
  for (let d = first; d < end; d++) {
    total += law.logp(d, scored[d], form.deviation);
    if (form.squash === 0) continue;
    const derivative = logDerivative(action[d]);
    total -= form.squash * (derivative + (form.scaled ? Math.log(how?.times[d] ?? 1) : 0));
    slack += Math.abs(form.squash) * Math.log1p(limits.squashEpsilon.value / Math.exp(derivative));
  }
  return form.reduce === 'mean' ? [total / dimensions, slack / dimensions] : [total, slack];
}

/** The entropy of a row's distribution, by its dimensions. */
export function entropyOf(reduce: Reduce, kind: Deviation, law: Law): number {
  let total = 0;
  const first = reduce === 'last' ? law.width - 1 : 0;
  const end = reduce === 'first' ? 1 : law.width;
  for (let d = first; d < end; d++) total += law.entropy(d, kind);
  return reduce === 'mean' ? total / law.width : total;
}

/** What the environment was given of the actions of some rows; null where that is not recorded. */
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
    const squashed = x.map(Math.tanh);
    const [tanh, plain] = [lineThrough(squashed, y), lineThrough(x, y)];
    const own: Given['how'] | null = x.every((value, i) => near(value, y[i]))
      ? 'same'
      : x.every((value, i) => near(Math.min(high, Math.max(low, value)), y[i]))
        ? 'clipped'
        : fits(tanh, squashed, y)
          ? 'squashed'
          : fits(plain, x, y)
            ? 'scaled'
            : null;
    if (!own) return { how: 'changed', times: new Float64Array(width).fill(1) };
    if (own === 'squashed') times[d] = tanh.slope;
    if (own === 'scaled') times[d] = plain.slope;
    // One that is the same in this dimension may be clipped in another.
    how = how === null || how === 'same' ? own : own === 'same' ? how : own === how ? how : 'changed';
    if (how === 'changed') return { how, times: new Float64Array(width).fill(1) };
  }
  return how ? { how, times } : null;
}

const near = (a: number, b: number) => Math.abs(a - b) <= limits.sameAction.value * (1 + Math.abs(b));

const fits = ({ slope, at }: Line, x: readonly number[], y: readonly number[]) =>
  slope > 0 && x.every((value, i) => near(at(value), y[i]));
