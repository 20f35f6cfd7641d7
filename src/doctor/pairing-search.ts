/** Which transform turns the rows' own credit into the credit that the loss used. A line per cell stands for any normalisation, so a transform is tried on every level at which a batch may be normalised. */
import { lagged } from '../math/chains.ts';
import { fewestRows } from './check.ts';
import { endRules } from './checks/credit.ts';
import { type Clamp, cellsOf, consensus, isOn, type Line } from './consensus.ts';
import type { Cover, Hypothesis } from './cover.ts';
import type { CreditRule } from './credit-rule.ts';
import { groupKeys } from './groups.ts';
import type { Iteration } from './iteration.ts';
import { alike, demeaned, fromPool, LineOf, nearest, normalised, swapped } from './pairing-vectors.ts';
import { gather } from './rows.ts';
import type { Run } from './run.ts';
import { Absolute } from './transforms/credit/absolute.ts';
import { EarlierIteration } from './transforms/credit/earlier-iteration.ts';
import { GroupMean } from './transforms/credit/group-mean.ts';
import { Lag, lags } from './transforms/credit/lag.ts';
import { OtherAgent } from './transforms/credit/other-agent.ts';
import { Permutation } from './transforms/credit/permutation.ts';
import { ReturnForAdvantage } from './transforms/credit/return-for-advantage.ts';
import { Sign } from './transforms/credit/sign.ts';

const shifts = [1, 2, 3, 4, 5, 6, 7];

export const hypotheses: readonly Hypothesis[] = [
  { cause: 'advantage-sign-flipped', transform: new Sign() },
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'episode') })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'stream') })),
  { cause: 'advantage-agent-swapped', transform: new OtherAgent() },
  { cause: 'return-inconsistent', transform: new EarlierIteration() },
  { cause: 'advantage-degenerate', transform: new Absolute() },
  { cause: 'advantage-degenerate', transform: new ReturnForAdvantage() },
  ...endRules,
  ...(['action', 'place', 'group'] as const).flatMap((by) => [
    { cause: 'advantage-group-demeaned', transform: new GroupMean(by, true) },
    { cause: 'advantage-group-demeaned', transform: new GroupMean(by) },
  ]),
  { cause: 'advantage-shuffled', transform: new Permutation() },
];

/** Rows of one epoch that transforms are tried on. */
const triedRows = 8192;
const fewestInCell = 5;

/** The rows of one pass over the batch: used credit `y` beside the rows' own `x`, by replay row. */
export interface PairingEpoch {
  /** Replay rows of this epoch that carry weight. */
  rows: Int32Array;
  x: Float64Array;
  y: Float64Array;
  slack: number;
  clamp: Clamp;
  levels: ((row: number) => number)[];
}

/** The lines of one level of normalisation, and the share of the rows that lie on them. */
export interface Level {
  share: number;
  cell: LineOf;
}

/** Rows that lie on no line of their own, and what they may have been given instead. */
export interface Question {
  iteration: Iteration;
  whole: PairingEpoch;
  wrong: number[];
  identity: Level;
  reference: ArrayLike<number>;
  earlier: Float64Array | null;
  rule: CreditRule | null;
}

/** The level of normalisation at which most rows lie on their cell's line. */
export function bestLevel(
  run: Run,
  epoch: PairingEpoch,
  x: ArrayLike<number>,
  sign: 1 | -1,
  levels = epoch.levels,
): Level | null {
  let best: Level | null = null;
  for (const level of levels) {
    const { lists } = cellsOf(epoch.rows, level, fewestInCell);
    const cell = new LineOf(epoch.x.length);
    let [matched, total] = [0, 0];
    for (const list of lists) {
      total += list.length;
      if (alike(x, list)) {
        matched += list.length;
        continue;
      }
      const line = consensus(x, epoch.y, list, epoch.slack, epoch.clamp, sign);
      matched += line.matched;
      cell.set(list, line);
    }
    // Too small cells prove nothing, and so does a level that leaves most rows out.
    if (total < 0.5 * epoch.rows.length || total < 2 * lists.length + fewestRows) continue;
    if (!best || matched / total > best.share + 0.005) best = { share: matched / total, cell };
    if (best.share > 0.98) break;
  }
  const text = run.text('advantage_normalisation');
  if (!best || best.share >= 0.98 || text === 'batch' || text === 'none') return best;
  // Where only minibatches could tell and they are too small, nothing is known.
  return cellsOf(epoch.rows, epoch.levels[2], fewestInCell).lists.length === 0 ? null : best;
}

/** Tries every transform on the rows that disagree, and tells the cover which of them each row agrees with. */
export function search(question: Question, cover: Cover<Hypothesis>): void {
  const { iteration, whole, wrong, identity, reference, earlier, rule } = question;
  const epoch = { ...whole, rows: whole.rows.subarray(0, triedRows) };
  const last = epoch.rows[epoch.rows.length - 1];
  const rows = wrong.filter((row) => row <= last);
  const sample = iteration.replays!.column('sample')!;
  const agent = iteration.samples!.column('agent')!;
  const matched: Uint8Array[] = [];
  const test = (vector: ArrayLike<number> | null, sign: 1 | -1 = 1, levels = epoch.levels, whole = false) => {
    const out = new Uint8Array(rows.length);
    matched.push(out);
    if (!vector) return;
    const x = new Float64Array(epoch.x.length).fill(Number.NaN);
    for (const row of epoch.rows) x[row] = vector[sample[row]];
    const own = bestLevel(iteration.run, epoch, x, sign, levels);
    // With most rows right, their line is the normalisation; wrong rows must lie on it too.
    const lines = !whole && identity.share >= 0.2 ? identity.cell : null;
    rows.forEach((row, i) => {
      const on = (line: Line | undefined) =>
        line !== undefined && isOn(x[row], epoch.y[row], line.slope, line.intercept, epoch.slack, epoch.clamp);
      if (Number.isNaN(x[row])) out[i] = 1;
      else if (own && Math.max(own.share, own.cell.share(row)) >= 0.3 && on(own.cell.get(row))) out[i] = 2;
      else if (lines && sign > 0 && on(lines.get(row))) out[i] = 2;
    });
  };
  const { chains } = iteration;
  const follow = (link: 'next' | 'streamNext', lag: number) =>
    chains && lagged(reference, chains[link], link === 'next' ? chains.previous : chains.streamPrevious, lag);
  test(reference, -1);
  for (const lag of lags) test(follow('next', lag));
  for (const lag of lags) test(follow('streamNext', lag));
  const any = (tests: (() => void)[]) => {
    const together = new Uint8Array(rows.length);
    for (const one of tests) {
      one();
      matched.pop()!.forEach((match, i) => {
        together[i] = Math.max(together[i], match);
      });
    }
    matched.push(together);
  };
  // Each agent may take another's at its own distance, so the shifts count together.
  any(shifts.map((shift) => () => test(swapped(iteration, reference, shift))));
  test(earlier ? Float64Array.from(reference, (_, row) => earlier[row] ?? Number.NaN) : null);
  test(Float64Array.from(reference, Math.abs), 1, epoch.levels, true);
  test(iteration.samples!.column('return'), 1, epoch.levels, true);
  for (const { transform } of endRules)
    test(rule && iteration.credit ? iteration.advantages(transform.rule, rule.gamma, rule.lambda) : null);
  const agents = new Set(rows.map((row) => agent[sample[row]]));
  const struck = (row: number) => agents.has(agent[sample[row]]);
  // Agents of a shared policy may have been normalised each by itself before.
  const forms = [reference, normalised(epoch.rows, epoch.levels[1], reference, sample)];
  for (const by of ['action', 'place', 'group'] as const) {
    const keys = groupKeys(iteration, by);
    const levels = epoch.levels
      .slice(0, 3)
      .map((level) => (row: number) => level(row) * 65536 + (keys ? keys[sample[row]] : 0));
    test(keys ? reference : null, 1, levels, true);
    any(
      forms.map((form) => () => {
        test(keys ? demeaned(epoch, keys, form, sample, struck) : null, 1, epoch.levels, true);
      }),
    );
  }
  matched.push(drawn(epoch, rows, identity));
  const matches = new Uint8Array(hypotheses.length);
  rows.forEach((row, i) => {
    for (let h = 0; h < matches.length; h++) matches[h] = matched[h][i];
    cover.add(matches, agent[sample[row]], iteration.number);
  });
}

/** Whether used advantages are drawn from the batch's own: the sorted columns lie on one line. */
function drawn(epoch: PairingEpoch, rows: number[], identity: Level): Uint8Array {
  const out = new Uint8Array(rows.length);
  // All credit of a policy: a minibatch may be given that of rows in other minibatches.
  const pools = new Map<number, Float64Array>();
  for (const list of cellsOf(epoch.rows, epoch.levels[0], 1).lists)
    pools.set(
      epoch.levels[0](list[0]),
      gather(epoch.x, list)
        .filter((value) => Number.isFinite(value))
        .sort(),
    );
  for (const level of epoch.levels) {
    const { lists } = cellsOf(epoch.rows, level, fewestInCell);
    for (const list of lists) {
      const known = list.filter((row) => Number.isFinite(epoch.x[row] + epoch.y[row]));
      const sortedX = Float64Array.from(known, (row) => epoch.x[row]).sort();
      const sortedY = Float64Array.from(known, (row) => epoch.y[row]).sort();
      const places = Int32Array.from(sortedX, (_, i) => i);
      const line = consensus(sortedX, sortedY, places, epoch.slack, epoch.clamp, 1);
      const partly = identity.share >= 0.2 ? identity.cell.get(list[0]) : undefined;
      const used = line.matched >= 0.9 * places.length ? line : partly;
      const normalised = used ?? fromPool(pools.get(epoch.levels[0](list[0]))!, sortedY, 0.05 * epoch.slack);
      if (!normalised || !(normalised.slope > 0)) continue;
      const pool = used ? sortedX : pools.get(epoch.levels[0](list[0]))!;
      const inCell = new Set(list);
      rows.forEach((row, i) => {
        if (!inCell.has(row)) return;
        const x = (epoch.y[row] - normalised.intercept) / normalised.slope;
        if (nearest(pool, x) * normalised.slope <= 0.05 * epoch.slack) out[i] = 2;
      });
    }
    if (rows.length > 0 && out.reduce((sum, match) => sum + (match === 2 ? 1 : 0), 0) > 0.9 * rows.length) break;
  }
  return out;
}
