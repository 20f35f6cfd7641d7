/** Log-probabilities of one row under its own lists or under altered ones. Every transform of the replay group is a call of this; nothing here decides what is a fault. */

import { type LocalPolicy, localPolicy, localPolicyBuffer } from '../../math/local-policy.ts';
import { budgets } from '../budgets.ts';
import type { Lists, Numbers, Rows } from '../evidence/rows.ts';

/** Lists of one table: logits with mask and temperature, and the ids they belong to. */
export class Scores {
  readonly logits: Lists | null;
  readonly legal: Lists | null;
  readonly subset: Lists | null;
  readonly temperature: Numbers | null;
  /** Masks of all rows; a row's own begins at `maskAt`. */
  masks: Numbers | null;

  constructor(
    rows: Rows,
    /** What logits are divided by where the rows do not say. */
    private readonly usual = 1,
  ) {
    this.logits = rows.list('logits');
    this.legal = rows.list('legal');
    this.masks = this.legal?.values ?? null;
    this.subset = rows.list('subset');
    this.temperature = rows.column('temperature');
  }

  count(row: number): number {
    const list = this.logits ?? this.subset ?? this.legal;
    return list ? list.offsets[row + 1] - list.offsets[row] : 0;
  }

  temperatureOf(row: number): number {
    const value = this.temperature ? this.temperature[row] : this.usual;
    return value > 0 && Number.isFinite(value) ? value : this.usual;
  }

  id(row: number, candidate: number): number {
    return this.subset ? this.subset.values[this.subset.offsets[row] + candidate] : candidate;
  }

  logit(row: number, candidate: number): number {
    return this.logits ? this.logits.values[this.logits.offsets[row] + candidate] : Number.NaN;
  }

  /** -1 where the row has no mask. */
  maskAt(row: number): number {
    const { legal } = this;
    return !legal || legal.offsets[row + 1] === legal.offsets[row] ? -1 : legal.offsets[row];
  }

  isLegal(row: number, candidate: number): boolean {
    const at = this.maskAt(row);
    return at < 0 || this.masks![at + candidate] === 1;
  }

  /** Whether the two rows list the same ids in the same order. */
  sameList(row: number, other: Scores, otherRow: number): boolean {
    const count = this.count(row);
    if (count !== other.count(otherRow)) return false;
    for (let i = 0; i < count; i++) if (this.id(row, i) !== other.id(otherRow, i)) return false;
    return true;
  }

  sameMask(row: number, other: Scores, otherRow: number): boolean {
    const count = this.count(row);
    if (count !== other.count(otherRow)) return false;
    for (let i = 0; i < count; i++) if (this.isLegal(row, i) !== other.isLegal(otherRow, i)) return false;
    return true;
  }
}

/** A distribution over one row's candidates that can be computed again and again without allocating. */
export class Distribution {
  count = 0;
  entropy = 0;
  private buffer: LocalPolicy = localPolicyBuffer(32);
  private logits = new Float64Array(32);
  private legal = new Uint8Array(32);

  /** Rows of `scores` with an own mask where one is given; `limit` takes only the first candidates. */
  of(
    scores: Scores,
    row: number,
    temperature: number,
    masked: boolean,
    mask?: Scores,
    maskRow = row,
    limit?: number,
  ): this {
    const whole = scores.count(row);
    this.count = limit === undefined ? whole : Math.min(whole, limit);
    if (this.logits.length < this.count) {
      this.logits = new Float64Array(2 * this.count);
      this.legal = new Uint8Array(2 * this.count);
      this.buffer = localPolicyBuffer(2 * this.count);
    }
    const source = mask ?? scores;
    const at = masked ? source.maskAt(mask ? maskRow : row) : -1;
    const { masks } = source;
    const values = scores.logits ? scores.logits.values : null;
    const from = scores.logits ? scores.logits.offsets[row] : 0;
    for (let i = 0; i < this.count; i++) {
      this.logits[i] = values ? values[from + i] : Number.NaN;
      this.legal[i] = at < 0 || masks![at + i] === 1 ? 1 : 0;
    }
    this.entropy = localPolicy(this.logits, null, this.legal, temperature, this.buffer, { count: this.count });
    return this;
  }

  logp(candidate: number): number {
    return candidate >= 0 && candidate < this.count
      ? this.buffer.logProbabilities[candidate]
      : Number.NEGATIVE_INFINITY;
  }

  /** Whether a mask leaves some candidate out. */
  get forbids(): boolean {
    for (let i = 0; i < this.count; i++) if (this.buffer.logProbabilities[i] === Number.NEGATIVE_INFINITY) return true;
    return false;
  }

  probability(candidate: number): number {
    return this.buffer.probabilities[candidate];
  }
}

/** The step between neighbouring numbers of a column near 1: 2^-23 for single precision, 2^-10 where the writer kept half. */
export function resolution(values: ArrayLike<number>): number {
  const view = new DataView(new ArrayBuffer(4));
  let zeros = 23;
  let looked = 0;
  for (let i = 0; i < values.length && looked < budgets.precisionNumbers && zeros > 0; i++) {
    const value = values[i];
    if (!Number.isFinite(value) || value === 0) continue;
    looked++;
    if (Math.fround(value) !== value) return 2 ** -23;
    view.setFloat32(0, value);
    const bits = view.getUint32(0) & 0x7fffff;
    while (zeros > 0 && (bits & ((1 << zeros) - 1)) !== 0) zeros--;
  }
  // Fewer digits than half precision has are a coincidence of a few values, not a format.
  return looked < 16 || zeros < 12 || zeros > 16 ? 2 ** -23 : 2 ** (zeros - 23);
}
