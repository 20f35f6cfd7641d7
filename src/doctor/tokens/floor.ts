/** How far two log-probabilities of one token may be apart and still be the same. The floor comes from two clean passes alone: a comparison that could be at fault must not excuse itself. */
import { quantiles } from '../../math/statistics.ts';
import { limits } from '../limits.ts';
import { source } from './codes.ts';
import type { TokenEvidence } from './evidence.ts';

export interface Gaps {
  rows: number;
  q50: number;
  q90: number;
  q98: number;
  /** What the same quantiles are at least: so few rows may have a quantile of this size by chance. */
  least: { q50: number; q90: number; q98: number };
}

const shares = [0.5, 0.9, 0.98];

export function gaps(values: ArrayLike<number>): Gaps {
  const sizes = Float64Array.from(values as Float64Array, Math.abs).filter((value) => !Number.isNaN(value));
  const error = (share: number) => Math.sqrt((share * (1 - share)) / sizes.length);
  const lower = shares.map((share) => Math.max(0, share - limits.sigmas.value * error(share)));
  const [q50, q90, q98, least50, least90, least98] = quantiles(sizes, [...shares, ...lower]);
  return { rows: sizes.length, q50, q90, q98, least: { q50: least50, q90: least90, q98: least98 } };
}

/** Quantiles of the sizes of errors. */
export function errorsOf(values: ArrayLike<number>): { q50: number; q80: number; q90: number; q95: number } {
  const [q50, q80, q90, q95] = quantiles(Float64Array.from(values as Float64Array, Math.abs), [0.5, 0.8, 0.9, 0.95]);
  return { q50, q80, q90, q95 };
}

export class Floor {
  constructor(
    readonly own: Gaps,
    /** Whether two clean passes tell it; otherwise it is what single precision gives, or what half precision was seen to give. */
    readonly measured: boolean,
    /** The gap of the two clean passes at every token. */
    readonly pairs: Float64Array = new Float64Array(),
  ) {}

  /** The floor of these tokens alone: certain tokens have next to none, and a few that are not may have all of it. */
  only(rows: readonly number[]): Floor {
    const own = gaps(rows.map((row) => this.pairs[row]));
    return this.measured && own.rows >= limits.fewestRows.value ? new Floor(own, true, this.pairs) : this;
  }

  /** What these tokens may be apart: the floor of all, or their own where it is wider. */
  among(rows: readonly number[]): Floor {
    return wider(this, this.only(rows));
  }

  /** Whether gaps are no larger than the floor, at three places of their distribution: what a transform that undoes a fault must reach. */
  holds({ rows, ...sizes }: Gaps): boolean {
    return rows > 0 && this.covers(sizes);
  }

  /** Whether gaps are larger than the floor by more than so few rows could be by chance. In between nothing is proved, and nothing accused. */
  broken({ rows, least }: Gaps): boolean {
    return rows > 0 && !this.covers(least);
  }

  private covers({ q50, q90, q98 }: Gaps['least']): boolean {
    const { own } = this;
    const [times, least] = [limits.floorTimes.value, limits.logp.value];
    return (
      q50 <= times * Math.max(own.q50, limits.floorMedian.value * own.q90) + least / 2 &&
      q90 <= times * own.q90 + least &&
      q98 <= times * own.q98 + 2 * least
    );
  }

  /** A single gap beyond which a row disagrees. */
  get row(): number {
    return limits.floorTimes.value * this.own.q98 + 2 * limits.logp.value;
  }
}

const none = { q50: 0, q90: 0, q98: 0 };
const single: Gaps = { rows: 0, ...none, least: none };
/** As seen in bf16 between batches of one and of eight. */
const half: Gaps = {
  rows: 0,
  q50: limits.halfMedian.value,
  q90: limits.halfNine.value,
  q98: limits.halfTail.value,
  least: none,
};

/** The floor of two columns of a recording, over tokens that the model sampled. */
export function floorOf(
  evidence: TokenEvidence,
  a: 'control_logp' | 'sampler_logp' = 'control_logp',
  b: 'control2_logp' | 'sampler_again_logp' = 'control2_logp',
): Floor {
  const { tokens, settings } = evidence;
  const [x, y, origin] = [tokens.column(a), tokens.column(b), tokens.column('source')];
  const pairs = x.map((value, i) => (origin[i] === source.sampled ? value - y[i] : Number.NaN));
  const found = gaps(pairs);
  if (found.rows >= limits.decidingRows.value) return new Floor(found, true, pairs);
  const declared = [settings.precision?.trainer, settings.precision?.sampler].join(' ');
  return new Floor(/16|half|8/.test(declared) ? half : single, false);
}

/** The wider of two floors at every place. */
export function wider(a: Floor, b: Floor): Floor {
  const { own } = a;
  return new Floor(
    {
      ...own,
      q50: Math.max(own.q50, b.own.q50),
      q90: Math.max(own.q90, b.own.q90),
      q98: Math.max(own.q98, b.own.q98),
    },
    a.measured && b.measured,
    a.pairs,
  );
}
