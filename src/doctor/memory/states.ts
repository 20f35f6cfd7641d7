/** Hidden states of a table's rows: the states themselves, or their hashes and norms. Two are the same where all that is known of both agrees. */
import type { Lists, Numbers, Rows } from '../evidence/rows.ts';
import { limits } from '../limits.ts';

const near = (a: number, b: number) => Math.abs(a - b) <= limits.sameState.value * (1 + Math.abs(b));

export class States {
  private readonly lists: Lists | null;
  private readonly hash: Numbers | null;
  private readonly norm: Numbers | null;

  constructor(rows: Rows | null) {
    this.lists = rows?.list('state_in') ?? null;
    this.hash = rows?.column('state_hash') ?? null;
    this.norm = rows?.column('state_norm') ?? null;
  }

  get there(): boolean {
    return this.lists !== null || this.hash !== null || this.norm !== null;
  }

  knows(row: number): boolean {
    if (this.lists) return this.lists.offsets[row + 1] > this.lists.offsets[row];
    return !Number.isNaN(this.hash?.[row] ?? this.norm?.[row] ?? Number.NaN);
  }

  /** Whether nothing is remembered; null where only a hash is known. */
  isZero(row: number): boolean | null {
    const { lists, norm } = this;
    if (lists) {
      for (let i = lists.offsets[row]; i < lists.offsets[row + 1]; i++) if (lists.values[i] !== 0) return false;
      return true;
    }
    return norm ? norm[row] === 0 : null;
  }

  /** Its length; NaN where only a hash is known. */
  size(row: number): number {
    const { lists, norm } = this;
    if (!lists) return norm?.[row] ?? Number.NaN;
    let sum = 0;
    for (let i = lists.offsets[row]; i < lists.offsets[row + 1]; i++) sum += lists.values[i] ** 2;
    return Math.sqrt(sum);
  }

  same(row: number, other: States, at: number): boolean {
    const { lists } = this;
    if (lists && other.lists) {
      const [from, to] = [lists.offsets[row], other.lists.offsets[at]];
      const width = lists.offsets[row + 1] - from;
      if (other.lists.offsets[at + 1] - to !== width) return false;
      for (let i = 0; i < width; i++) if (!near(lists.values[from + i], other.lists.values[to + i])) return false;
      return true;
    }
    // A hash changes with the last bit; a norm tells the same state from the same state rounded otherwise.
    if (this.norm && other.norm) return near(this.norm[row], other.norm[at]);
    return this.hash !== null && other.hash !== null && this.hash[row] === other.hash[at];
  }
}
