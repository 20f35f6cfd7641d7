/** What each dimension of an action was drawn from: a Gaussian, a beta distribution on 0 to 1, or one of several categoricals. The one thing to get wrong: a beta distribution is recorded by its mean and deviation too, and its two concentrations follow from them. */
import { digamma, logGamma } from '../../math/gamma.ts';
import type { Lists, Rows } from '../evidence/rows.ts';

/** What stands for the deviation: its own, the deviation's exponential (it was taken for its logarithm), its square, its root, 1. */
export type Deviation = 'own' | 'exponential' | 'variance' | 'root' | 'unit';

export type Family = 'gaussian' | 'beta' | 'categoricals';

/** One row's distribution. */
export interface Law {
  readonly family: Family;
  readonly width: number;
  logp(dimension: number, action: number, deviation: Deviation): number;
  entropy(dimension: number, deviation: Deviation): number;
  /** The KL of another distribution of the same family from this one. */
  divergence(dimension: number, other: Law): number;
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

export class GaussianLaw implements Law {
  readonly family = 'gaussian';

  constructor(
    readonly mean: Float64Array,
    readonly logStd: Float64Array,
  ) {}

  get width(): number {
    return this.mean.length;
  }

  logp(d: number, action: number, kind: Deviation): number {
    const deviation = deviationOf(kind, this.logStd[d]);
    const z = (action - this.mean[d]) / deviation;
    return -(z * z) / 2 - Math.log(deviation) - halfLogTau;
  }

  entropy(d: number, kind: Deviation): number {
    return 1 / 2 + halfLogTau + Math.log(deviationOf(kind, this.logStd[d]));
  }

  divergence(d: number, other: GaussianLaw): number {
    const apart = this.logStd[d] - other.logStd[d];
    const moved = (this.mean[d] - other.mean[d]) / Math.exp(other.logStd[d]);
    return (Math.expm1(2 * apart) + moved * moved) / 2 - apart;
  }
}

export class BetaLaw implements Law {
  readonly family = 'beta';

  constructor(
    readonly mean: Float64Array,
    readonly logStd: Float64Array,
  ) {}

  get width(): number {
    return this.mean.length;
  }

  concentrations(d: number): [number, number] {
    const mean = this.mean[d];
    const both = (mean * (1 - mean)) / Math.exp(2 * this.logStd[d]) - 1;
    return [mean * both, (1 - mean) * both];
  }

  logp(d: number, action: number): number {
    const [a, b] = this.concentrations(d);
    return (a - 1) * Math.log(action) + (b - 1) * Math.log1p(-action) - logBeta(a, b);
  }

  entropy(d: number): number {
    const [a, b] = this.concentrations(d);
    return logBeta(a, b) - (a - 1) * digamma(a) - (b - 1) * digamma(b) + (a + b - 2) * digamma(a + b);
  }

  divergence(d: number, other: BetaLaw): number {
    const [[a, b], [c, e]] = [this.concentrations(d), other.concentrations(d)];
    const both = digamma(a + b);
    return logBeta(c, e) - logBeta(a, b) + (a - c) * (digamma(a) - both) + (b - e) * (digamma(b) - both);
  }
}

const logBeta = (a: number, b: number) => logGamma(a) + logGamma(b) - logGamma(a + b);

export class ChoicesLaw implements Law {
  readonly family = 'categoricals';

  /** Logarithms of the probabilities of all choices, one dimension after the other, and where each dimension begins. */
  readonly logps: Float64Array;
  readonly begins: readonly number[];

  constructor(logits: Float64Array, choices: Float64Array, legal: (choice: number) => boolean = () => true) {
    const begins = [0];
    for (const count of choices) begins.push(begins[begins.length - 1] + count);
    this.begins = begins;
    this.logps = Float64Array.from(logits, (logit, i) => (legal(i) ? logit : Number.NEGATIVE_INFINITY));
    for (let d = 0; d < choices.length; d++) {
      const own = this.logps.subarray(begins[d], begins[d + 1]);
      const most = Math.max(...own);
      const total = most + Math.log(own.reduce((sum, logit) => sum + Math.exp(logit - most), 0));
      for (let i = 0; i < own.length; i++) own[i] -= total;
    }
  }

  get width(): number {
    return this.begins.length - 1;
  }

  logp(d: number, action: number): number {
    const at = this.begins[d] + action;
    return Number.isInteger(action) && action >= 0 && at < this.begins[d + 1] ? this.logps[at] : Number.NaN;
  }

  entropy(d: number): number {
    let total = 0;
    for (let i = this.begins[d]; i < this.begins[d + 1]; i++)
      if (this.logps[i] > Number.NEGATIVE_INFINITY) total -= Math.exp(this.logps[i]) * this.logps[i];
    return total;
  }

  divergence(d: number, other: ChoicesLaw): number {
    let total = 0;
    for (let i = this.begins[d]; i < this.begins[d + 1]; i++)
      if (this.logps[i] > Number.NEGATIVE_INFINITY) total += Math.exp(this.logps[i]) * (this.logps[i] - other.logps[i]);
    return total;
  }
}

/** The family of these samples; the name itself where it is none that is known here. */
export function familyOf(samples: Rows): Family | { unknown: string } {
  const kind = samples.texts('distribution')?.find((text) => text !== '') ?? 'gaussian';
  if (kind === 'beta' || kind === 'categoricals') return kind;
  return kind === 'gaussian' || kind === 'squashed-gaussian' ? 'gaussian' : { unknown: kind };
}

/** The laws of the rows of a table; null for a row that does not say. */
export function lawsOf(table: Rows | null, family: Family): (row: number) => Law | null {
  if (!table) return () => null;
  if (family !== 'categoricals') {
    const [mean, logStd] = [table.list('mean'), table.list('log_std')];
    return (row) => {
      const own = vector(mean, row);
      const spread = own && vector(logStd, row, own.length);
      return own && spread ? new (family === 'beta' ? BetaLaw : GaussianLaw)(own, spread) : null;
    };
  }
  const [logits, choices, legal] = [table.list('choice_logits'), table.list('choices'), table.list('legal')];
  return (row) => {
    const counts = vector(choices, row);
    const all = counts?.reduce((sum, count) => sum + count, 0);
    const own = counts && vector(logits, row, all);
    const mask = own && vector(legal, row, all);
    return own && counts ? new ChoicesLaw(own, counts, mask ? (i) => mask[i] === 1 : undefined) : null;
  };
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
