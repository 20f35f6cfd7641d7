/** Page's, Friedman's and Kendall's tests on blocks of treatments. Exact where the number of arrangements allows, ties included: the distribution is that of the very ranks seen, permuted within blocks. */
import { chiSquareTail, normalTwoSided } from '../distributions.ts';
import type { RandomStream } from '../random.ts';
import { midRanks, permutations } from './ranks.ts';

/** One block: one value per treatment, such as the returns of all agents in one seed. */
export type Block = ArrayLike<number>;

export interface TestResult {
  statistic: number;
  p: number;
  /** How p was found. */
  method: 'exact' | 'permutations drawn' | 'normal' | 'chi-square';
}

/** Beyond so many treatments there are too many arrangements of a block to list. */
const listed = 7;
/** Blocks of more than this many are left to the normal approximation, which is then good. */
const exactBlocks = 60;
/** Rank sums that an exact Friedman test may keep. */
const states = 60_000;

/** Page's L for the order given by the columns: large where later columns have higher ranks. */
export function pageStatistic(blocks: readonly Block[]): number {
  let sum = 0;
  for (const block of blocks)
    midRanks(block).forEach((rank, i) => {
      sum += (i + 1) * rank;
    });
  return sum;
}

export interface PageResult extends TestResult {
  /** Standard normal under the null hypothesis, positive where later columns are higher. */
  z: number;
  /** Against rising ranks only; `p` is against both directions. */
  oneSided: number;
}

/** Page's test for a trend along the columns, in either direction. */
export function pageTest(blocks: readonly Block[]): PageResult {
  const size = blocks[0].length;
  const ranked = blocks.map((block) => midRanks(block));
  const statistic = pageStatistic(blocks);
  const centre = (blocks.length * size * (size + 1) ** 2) / 4;
  const weights = ((size ** 2 - 1) * size) / 12;
  let variance = 0;
  for (const ranks of ranked) variance += (weights * squares(ranks)) / (size - 1);
  const z = variance > 0 ? (statistic - centre) / Math.sqrt(variance) : 0;
  if (variance === 0) return { statistic, z: 0, p: 1, oneSided: 1, method: 'exact' };
  if (size > listed || blocks.length > exactBlocks) {
    const p = normalTwoSided(z);
    return { statistic, z, p, oneSided: z > 0 ? p / 2 : 1 - p / 2, method: 'normal' };
  }
  // Doubled, so that shared ranks stay whole numbers.
  const distribution = nullDistribution(ranked);
  const tail = (from: number) => {
    let sum = 0;
    for (const [score, share] of distribution) if (score >= from) sum += share;
    return Math.min(1, sum);
  };
  const doubled = Math.round(2 * statistic);
  const upper = tail(doubled);
  // The distribution is symmetric about its centre: turning a block round turns its score round.
  const far = Math.abs(doubled - 2 * centre);
  const p = far < 1e-9 ? 1 : Math.min(1, 2 * tail(Math.round(2 * centre + far)));
  return { statistic, z, p, oneSided: upper, method: 'exact' };
}

function squares(ranks: Float64Array): number {
  const middle = (ranks.length + 1) / 2;
  return ranks.reduce((sum, rank) => sum + (rank - middle) ** 2, 0);
}

/** Of blocks without ties, by how many columns and blocks there are: a power that is found by simulation asks for one of them a thousand times. */
const untied = new Map<string, Map<number, number>>();

/** How likely each doubled L is where every arrangement within blocks is as likely as any other. */
function nullDistribution(ranked: readonly Float64Array[]): Map<number, number> {
  const whole = (ranks: Float64Array) => ranks.every(Number.isInteger) && new Set(ranks).size === ranks.length;
  if (!ranked.every(whole)) return convolve(ranked.map(blockScores));
  const size = ranked[0].length;
  const key = `${size} ${ranked.length}`;
  let found = untied.get(key);
  if (!found) {
    const scores = blockScores(Float64Array.from({ length: size }, (_, i) => i + 1));
    found = convolve(ranked.map(() => scores));
    untied.set(key, found);
  }
  return found;
}

/** Twice the block's part of L, with its share among all arrangements. */
function blockScores(ranks: Float64Array): Map<number, number> {
  const scores = new Map<number, number>();
  const orders = permutations(ranks.length);
  for (const order of orders) {
    const score = Math.round(2 * order.reduce((sum, from, i) => sum + (i + 1) * ranks[from], 0));
    scores.set(score, (scores.get(score) ?? 0) + 1 / orders.length);
  }
  return scores;
}

function convolve(parts: readonly Map<number, number>[]): Map<number, number> {
  return parts.reduce(
    (so, part) => {
      const next = new Map<number, number>();
      for (const [a, p] of so) for (const [b, q] of part) next.set(a + b, (next.get(a + b) ?? 0) + p * q);
      return next;
    },
    new Map([[0, 1]]),
  );
}

export interface FriedmanResult extends TestResult {
  /** Kendall's coefficient of concordance: 0 where blocks do not agree, 1 where all rank alike. */
  w: number;
}

/** Friedman's test for any difference between columns, corrected for ties. `stream` draws permutations where they are too many to list. */
export function friedmanTest(blocks: readonly Block[], stream?: RandomStream, draws = 200_000): FriedmanResult {
  const size = blocks[0].length;
  const ranked = blocks.map((block) => midRanks(block));
  const spread = ranked.reduce((sum, ranks) => sum + squares(ranks), 0);
  const middle = (blocks.length * (size + 1)) / 2;
  const sums = Array.from({ length: size }, (_, i) => ranked.reduce((sum, ranks) => sum + ranks[i], 0));
  const apart = sums.reduce((sum, value) => sum + (value - middle) ** 2, 0);
  const statistic = spread > 0 ? ((size - 1) * apart) / spread : 0;
  const w = statistic / (blocks.length * (size - 1));
  if (spread === 0) return { statistic, p: 1, w: 0, method: 'exact' };
  const exact = size <= listed ? exactFriedman(ranked, apart, middle) : null;
  if (exact !== null) return { statistic, p: exact, w, method: 'exact' };
  if (stream && blocks.length <= exactBlocks)
    return { statistic, p: drawnFriedman(ranked, apart, middle, stream, draws), w, method: 'permutations drawn' };
  return { statistic, p: chiSquareTail(statistic, size - 1), w, method: 'chi-square' };
}

/** Goes through the blocks and keeps how likely each vector of rank sums is; null where there are too many. */
function exactFriedman(ranked: readonly Float64Array[], apart: number, middle: number): number | null {
  const size = ranked[0].length;
  const orders = permutations(size);
  const base = 2 * ranked.length * size + 1;
  // The last sum follows from the others, so one vector is one number.
  if (base ** (size - 1) > Number.MAX_SAFE_INTEGER) return null;
  let reached = new Map<number, number>([[0, 1]]);
  // The first block may stay as it is: naming the columns anew changes no statistic.
  const [first, ...rest] = ranked;
  reached = new Map([
    [
      encode(
        Array.from(first, (rank) => Math.round(2 * rank)),
        base,
      ),
      1,
    ],
  ]);
  for (const ranks of rest) {
    const steps = new Map<number, number>();
    for (const order of orders) {
      const step = encode(
        order.map((from) => Math.round(2 * ranks[from])),
        base,
      );
      steps.set(step, (steps.get(step) ?? 0) + 1 / orders.length);
    }
    const next = new Map<number, number>();
    for (const [at, p] of reached)
      for (const [step, q] of steps) next.set(at + step, (next.get(at + step) ?? 0) + p * q);
    if (next.size > states) return null;
    reached = next;
  }
  const total = 2 * ranked.length * ((size * (size + 1)) / 2);
  let tail = 0;
  for (const [at, p] of reached) {
    let rest = at;
    let left = total;
    let sum = 0;
    for (let i = 0; i < size - 1; i++) {
      const own = rest % base;
      rest = Math.floor(rest / base);
      left -= own;
      sum += (own / 2 - middle) ** 2;
    }
    sum += (left / 2 - middle) ** 2;
    if (sum >= apart - 1e-9) tail += p;
  }
  return Math.min(1, tail);
}

function encode(doubled: readonly number[], base: number): number {
  let code = 0;
  for (let i = doubled.length - 2; i >= 0; i--) code = code * base + doubled[i];
  return code;
}

function drawnFriedman(
  ranked: readonly Float64Array[],
  apart: number,
  middle: number,
  stream: RandomStream,
  draws: number,
): number {
  const size = ranked[0].length;
  const sums = new Float64Array(size);
  const own = ranked.map((ranks) => ranks.slice());
  let reached = 0;
  for (let draw = 0; draw < draws; draw++) {
    sums.fill(0);
    for (const ranks of own) {
      stream.shuffle(ranks);
      for (let i = 0; i < size; i++) sums[i] += ranks[i];
    }
    let sum = 0;
    for (let i = 0; i < size; i++) sum += (sums[i] - middle) ** 2;
    if (sum >= apart - 1e-9) reached++;
  }
  return (reached + 1) / (draws + 1);
}

/** The smallest p that Friedman's exact test can give: all blocks rank alike. With 3 blocks of 4 it is 0.0017. */
export function smallestFriedman(blocks: number, size: number): number {
  return factorial(size) ** (1 - blocks);
}

/** The smallest p of Page's test against both directions. */
export function smallestPage(blocks: number, size: number): number {
  return Math.min(1, 2 * factorial(size) ** -blocks);
}

/** The fewest blocks with which both tests can reach a level. */
export function fewestBlocks(size: number, level: number): number {
  let blocks = 2;
  while (smallestFriedman(blocks, size) > level || smallestPage(blocks, size) > level) blocks++;
  return blocks;
}

function factorial(n: number): number {
  return n <= 1 ? 1 : n * factorial(n - 1);
}
