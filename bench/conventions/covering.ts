/**
 * Covering arrays of strength 2: few rows in which every allowed pair of levels occurs. A pair is allowed if some row without any
 * forbidden pair holds it; what looks allowed and cannot be completed to a row is not asked for.
 */
import { RandomStream } from '../../src/math/random.ts';

export type Factors = Record<string, readonly string[]>;
/** Two levels that no row may hold together: [factor, level, factor, level]. */
export type Forbidden = readonly [string, string, string, string];
export type Row = Record<string, string>;

/** Levels of all factors are numbered through; a row is one number per factor, -1 where it is open. */
export class Rules {
  readonly names: string[];
  readonly levels: { factor: number; name: string }[] = [];
  private readonly of: number[][] = [];
  private readonly conflicts: number[][];

  constructor(factors: Factors, forbidden: readonly Forbidden[]) {
    this.names = Object.keys(factors);
    this.names.forEach((name, factor) => {
      this.of.push(factors[name].map((level) => this.levels.push({ factor, name: level }) - 1));
    });
    this.conflicts = this.levels.map(() => []);
    for (const [a, x, b, y] of forbidden) {
      const [first, second] = [this.find(a, x), this.find(b, y)];
      this.conflicts[first].push(second);
      this.conflicts[second].push(first);
    }
  }

  private find(factor: string, level: string): number {
    const place = this.names.indexOf(factor);
    const found = this.of[place]?.find((index) => this.levels[index].name === level);
    if (found === undefined) throw new Error(`no convention is called ${factor}: ${level}`);
    return found;
  }

  together(first: number, second: number): boolean {
    return !this.conflicts[first].includes(second);
  }

  empty(): Int32Array {
    return new Int32Array(this.names.length).fill(-1);
  }

  /** Fills what is open, by depth-first search: the factor with fewest levels left first, its levels in the order of `prefer`. */
  complete(row: Int32Array, prefer: (row: Int32Array, levels: number[]) => number[]): Int32Array | null {
    const blocked = new Uint8Array(this.levels.length);
    for (const level of row) if (level >= 0) this.block(blocked, level);
    return row.some((level) => level >= 0 && blocked[level]) ? null : this.extend(row, blocked, prefer);
  }

  private block(blocked: Uint8Array, level: number): void {
    for (const other of this.conflicts[level]) blocked[other] = 1;
  }

  private extend(
    row: Int32Array,
    blocked: Uint8Array,
    prefer: (row: Int32Array, levels: number[]) => number[],
  ): Int32Array | null {
    let next = -1;
    let fewest = Number.POSITIVE_INFINITY;
    for (let factor = 0; factor < row.length; factor++) {
      if (row[factor] >= 0) continue;
      let count = 0;
      for (const level of this.of[factor]) count += 1 - blocked[level];
      if (count < fewest) [next, fewest] = [factor, count];
    }
    if (next < 0) return row;
    const open = this.of[next].filter((level) => !blocked[level]);
    for (const level of prefer(row, open)) {
      const longer = row.slice();
      longer[next] = level;
      const narrower = blocked.slice();
      this.block(narrower, level);
      const found = this.extend(longer, narrower, prefer);
      if (found) return found;
    }
    return null;
  }

  named(row: Int32Array): Row {
    return Object.fromEntries(this.names.map((name, factor) => [name, this.levels[row[factor]].name]));
  }
}

/** Every pair of levels that some allowed row holds. */
export function allowedPairs(rules: Rules): [number, number][] {
  const pairs: [number, number][] = [];
  const count = rules.levels.length;
  const known = new Uint8Array(count * count);
  for (let a = 0; a < count; a++)
    for (let b = a + 1; b < count; b++) {
      if (rules.levels[a].factor === rules.levels[b].factor || !rules.together(a, b)) continue;
      if (!known[a * count + b]) {
        const row = rules.empty();
        row[rules.levels[a].factor] = a;
        row[rules.levels[b].factor] = b;
        const whole = rules.complete(row, (_, levels) => levels);
        if (!whole) continue;
        for (const x of whole) for (const y of whole) known[x * count + y] = 1;
      }
      pairs.push([a, b]);
    }
  return pairs;
}

/** Greedy: every row starts from a pair that is still missing, and each further level is the one that covers most missing pairs. */
export function coveringArray(rules: Rules, seed: number, tries = 8): Row[] {
  const random = RandomStream.of(seed, 'covering');
  const count = rules.levels.length;
  const missing = new Uint8Array(count * count);
  let left = allowedPairs(rules);
  for (const [a, b] of left) missing[a * count + b] = missing[b * count + a] = 1;
  const gain = (row: Int32Array, level: number) => {
    let sum = 0;
    for (const other of row) if (other >= 0) sum += missing[level * count + other];
    return sum;
  };
  const prefer = (row: Int32Array, levels: number[]) =>
    levels
      .map((level) => ({ level, worth: gain(row, level) + random.uniform() }))
      .sort((p, q) => q.worth - p.worth)
      .map(({ level }) => level);
  const worth = (row: Int32Array) => row.reduce((sum, level) => sum + gain(row, level), 0);
  const rows: Row[] = [];
  while (left.length > 0) {
    let best: Int32Array | undefined;
    for (let i = 0; i < tries; i++) {
      const row = rules.empty();
      for (const level of left[random.below(left.length)]) row[rules.levels[level].factor] = level;
      const whole = rules.complete(row, prefer)!;
      if (!best || worth(whole) > worth(best)) best = whole;
    }
    for (const a of best!) for (const b of best!) missing[a * count + b] = 0;
    left = left.filter(([a, b]) => missing[a * count + b] === 1);
    rows.push(rules.named(best!));
  }
  return rows;
}
