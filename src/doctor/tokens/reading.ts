/** What is drawn of a language model's run: how far sampler and trainer are apart, where, and the responses that are farthest. Plain numbers, for the report and the studio. */
import { quantiles } from '../../math/statistics.ts';
import { source } from './codes.ts';
import type { ResponseColumn } from './columns.ts';
import { placeInResponse } from './engine-noise.ts';
import type { TokenEvidence } from './evidence.ts';
import { floorOf, type Gaps, gaps } from './floor.ts';
import { base, SamplerRows } from './sampler-rows.ts';

export interface Histogram {
  /** Log-ratios at the middle of each bin, and the share of tokens in it. */
  at: number[];
  share: number[];
  /** The same of two clean passes of the trainer; absent where there is one at most. */
  floor?: number[];
}

/** Gaps in nats by a figure of the tokens: the median, and what nine in ten stay below. */
export interface Agreement {
  by: string;
  at: number[];
  median: number[];
  nine: number[];
}

export interface ReadToken {
  t: number;
  token: number;
  /** Of the model's own words only: what is compared, and how far apart it is. */
  said: number;
  expected: number;
  gap: number;
  coef: number;
  source: string;
}

export interface ReadResponse {
  iteration: number;
  episode: number;
  group: number;
  reward: number;
  advantage: number;
  gap: number;
  /** How many tokens it has, and the stretch of them that is shown. */
  length: number;
  tokens: ReadToken[];
}

export interface TokenReading {
  /** What is compared with what a clean pass gives. */
  of: 'sampler' | 'update';
  floor: Gaps & { measured: boolean };
  ratios: Histogram;
  agreement: Agreement[];
  worst: ReadResponse[];
}

const bins = 41;
const parts = 24;
const shown = 3;
const fewest = 8;
/** A page with more tokens than this is not read, and slow to draw. */
const longest = 800;

interface Side {
  of: TokenReading['of'];
  side: Float64Array;
  expected: (row: number) => number;
}

function rowsOf({ tokens }: TokenEvidence, { side, expected }: Side): number[] {
  const origin = tokens.column('source');
  const rows: number[] = [];
  for (let row = 0; row < tokens.rows; row++)
    if (origin[row] === source.sampled && Number.isFinite(side[row] - expected(row))) rows.push(row);
  return rows;
}

/** Null where nothing can be compared. */
export function tokenReading(evidence: TokenEvidence): TokenReading | null {
  const sampled = new SamplerRows(evidence);
  const clean = base(evidence);
  const sides: Side[] = [
    { of: 'sampler', side: sampled.said, expected: sampled.expected },
    { of: 'update', side: evidence.tokens.column('first_logp'), expected: (row) => clean[row] },
  ];
  const [chosen] = sides
    .map((side) => ({ ...side, rows: rowsOf(evidence, side) }))
    .filter(({ rows }) => rows.length > 0)
    .map((side) => ({ ...side, nine: gaps(side.rows.map((row) => side.expected(row) - side.side[row])).q90 }))
    // The side that is farther from a clean pass shows the fault.
    .sort((a, b) => b.nine - a.nine);
  if (!chosen) return null;
  const { of, side, expected, rows } = chosen;
  const gapOf = (row: number) => expected(row) - side[row];
  const floor = floorOf(evidence);
  return {
    of,
    floor: { ...floor.own, measured: floor.measured },
    ratios: histogram(evidence, rows.map(gapOf)),
    agreement: agreementOf(evidence, rows, gapOf),
    worst: worstOf(evidence, rows, gapOf, side, expected),
  };
}

function histogram({ tokens }: TokenEvidence, own: readonly number[]): Histogram {
  const [control, again] = [tokens.column('control_logp'), tokens.column('control2_logp')];
  const clean = [...control.map((value, row) => value - again[row])].filter(Number.isFinite);
  const sizes = quantiles(own.map(Math.abs), [0.995]);
  const wide = Math.max(sizes[0], ...quantiles(clean.map(Math.abs), [0.995]).filter(Number.isFinite), 1e-6);
  const share = (values: readonly number[]) => {
    const counts = new Array<number>(bins).fill(0);
    for (const value of values) {
      const at = Math.floor(((value / wide + 1) / 2) * bins);
      counts[Math.max(0, Math.min(bins - 1, at))] += 1 / values.length;
    }
    return counts;
  };
  return {
    at: Array.from({ length: bins }, (_, i) => wide * ((2 * i + 1) / bins - 1)),
    share: share(own),
    ...(clean.length > 0 ? { floor: share(clean) } : {}),
  };
}

function agreementOf(evidence: TokenEvidence, rows: readonly number[], gapOf: (row: number) => number): Agreement[] {
  const place = placeInResponse(evidence);
  const of = (name: ResponseColumn) => (row: number) => evidence.ofResponse(name, row);
  const columns: [string, (row: number) => number][] = [
    ['place in the response', (row) => place[row]],
    ['group', of('group')],
    ['version of the weights', of('trainer_version')],
    ["padding of the trainer's row", of('padding')],
    ["padding of the sampler's row", of('sampler_padding')],
    ['tokens from the cache', of('cached_tokens')],
  ];
  return columns.flatMap(([by, figureOf]) => {
    const known = rows.filter((row) => Number.isFinite(figureOf(row))).sort((a, b) => figureOf(a) - figureOf(b));
    if (known.length === 0 || figureOf(known[0]) === figureOf(known[known.length - 1])) return [];
    // Parts of about equal size; equal figures stay together.
    const out: Agreement = { by, at: [], median: [], nine: [] };
    const size = Math.max(fewest, Math.ceil(known.length / parts));
    for (let from = 0, to = 0; from < known.length; from = to) {
      to = Math.min(known.length, from + size);
      while (to < known.length && figureOf(known[to]) === figureOf(known[to - 1])) to++;
      const part = known.slice(from, to);
      const [median, nine] = quantiles(
        part.map((row) => Math.abs(gapOf(row))),
        [0.5, 0.9],
      );
      out.at.push(figureOf(part[part.length >> 1]));
      out.median.push(median);
      out.nine.push(nine);
    }
    return out.at.length > 1 ? [out] : [];
  });
}

function worstOf(
  evidence: TokenEvidence,
  rows: readonly number[],
  gapOf: (row: number) => number,
  side: Float64Array,
  expected: (row: number) => number,
): ReadResponse[] {
  const { tokens, responses, uses, byResponse } = evidence;
  const owner = tokens.column('response');
  const sums = new Map<number, { sum: number; count: number }>();
  for (const row of rows) {
    const own = sums.get(owner[row]) ?? { sum: 0, count: 0 };
    sums.set(owner[row], own);
    own.sum += Math.abs(gapOf(row));
    own.count++;
  }
  const farthest = [...sums]
    .map(([response, { sum, count }]) => ({ response, gap: sum / count }))
    .sort((a, b) => b.gap - a.gap || a.response - b.response)
    .slice(0, shown);
  const wanted = new Set(farthest.flatMap(({ response }) => [...stretch(byResponse.get(response)!, gapOf)]));
  const coefs = new Map<number, number>();
  for (let use = 0; use < uses.rows; use++) {
    const row = uses.at('token', use);
    if (wanted.has(row) && !coefs.has(row)) coefs.set(row, uses.at('coef', use));
  }
  const names = Object.keys(source);
  return farthest.map(({ response, gap }) => ({
    iteration: responses.at('iteration', response),
    episode: responses.at('episode', response),
    group: responses.at('group', response),
    reward: responses.at('reward', response),
    advantage: responses.at('advantage', response),
    gap,
    length: byResponse.get(response)!.length,
    tokens: Array.from(stretch(byResponse.get(response)!, gapOf), (row) => ({
      t: tokens.at('t', row),
      token: tokens.at('token', row),
      said: side[row],
      expected: expected(row),
      gap: tokens.at('source', row) === source.sampled ? gapOf(row) : Number.NaN,
      coef: coefs.get(row) ?? Number.NaN,
      source: names[tokens.at('source', row)] ?? '',
    })),
  }));
}

/** Of a response that is too long to be shown, the part that disagrees most. */
function stretch(rows: Int32Array, gapOf: (row: number) => number): Int32Array {
  if (rows.length <= longest) return rows;
  const gap = (i: number) => Math.abs(gapOf(rows[i])) || 0;
  let [sum, most, from] = [0, -1, 0];
  for (let i = 0; i < rows.length; i++) {
    sum += gap(i) - (i >= longest ? gap(i - longest) : 0);
    if (i >= longest - 1 && sum > most) [most, from] = [sum, i - longest + 1];
  }
  return rows.subarray(from, from + longest);
}
