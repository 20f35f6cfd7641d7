/** Which transform turns the rows' own credit into the credit that the loss used. A line per cell stands for any normalisation, so a transform is tried on every level at which a batch may be normalised. */

import { budgets } from '../budgets.ts';
import { fewestRows } from '../check.ts';
import { endRules } from '../checks/credit/credit.ts';
import type { CreditRule } from '../credit-rule.ts';
import { groupKeys } from '../evidence/groups.ts';
import type { Iteration } from '../evidence/iteration.ts';
import { withGroup } from '../evidence/keys.ts';
import { gather } from '../evidence/rows.ts';
import type { Run } from '../evidence/run.ts';
import { limits } from '../limits.ts';
import { Composed } from '../transforms/composed.ts';
import { Absolute } from '../transforms/credit/absolute.ts';
import type { CreditRows, CreditTransform } from '../transforms/credit/credit-rows.ts';
import { EarlierIteration } from '../transforms/credit/earlier-iteration.ts';
import { GroupMean } from '../transforms/credit/group-mean.ts';
import { Lag, lags } from '../transforms/credit/lag.ts';
import { OtherAgent } from '../transforms/credit/other-agent.ts';
import { nearest, Permutation } from '../transforms/credit/permutation.ts';
import { PositivePart } from '../transforms/credit/positive-part.ts';
import { Sign } from '../transforms/credit/sign.ts';
import { InPlaceOf, inPlaceColumns } from '../transforms/rows/in-place-of.ts';
import { type Clamp, cellsOf, consensus, type Line } from './consensus.ts';
import type { Cover, Hypothesis, Trial } from './cover.ts';
import { alike, demeaned, fromPool, LineOf, normalised, partlyFromPool } from './vectors.ts';

interface PairingHypothesis extends Hypothesis {
  transform: CreditTransform;
}

const singles: readonly PairingHypothesis[] = [
  // Before the sign: rows that lost theirs are turned where it was negative, and only there.
  { cause: 'advantage-degenerate', transform: new Absolute() },
  { cause: 'advantage-degenerate', transform: new PositivePart() },
  { cause: 'advantage-sign-flipped', transform: new Sign() },
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'episode') })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'stream') })),
  { cause: 'advantage-agent-swapped', transform: new OtherAgent() },
  { cause: 'return-inconsistent', transform: new EarlierIteration() },
  ...inPlaceColumns('advantage').map((column) => ({
    cause: 'credit-formula-differs',
    transform: new InPlaceOf(column, 'advantage'),
  })),
  ...endRules,
  ...(['action', 'place', 'group', 'env', 'step'] as const).flatMap((by) => [
    { cause: 'advantage-group-demeaned', transform: new GroupMean(by, true) },
    { cause: 'advantage-group-demeaned', transform: new GroupMean(by) },
  ]),
  { cause: 'advantage-shuffled', transform: new Permutation() },
];

/** Two faults at once, tried where no single one explains the rows. */
const pairs: readonly PairingHypothesis[] = singles
  .filter(({ transform }) => ['lag', 'other-agent'].includes(transform.id))
  .map(({ cause, transform }) => ({
    cause,
    beside: 'advantage-sign-flipped',
    transform: new Composed([transform, new Sign()]),
  }));

export const hypotheses = [...singles, ...pairs];

const fewestInCell = limits.lineCell.value;

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
    if (total < limits.most.value * epoch.rows.length || total < 2 * lists.length + fewestRows) continue;
    const share = matched / total;
    // Where one line for all leaves a few rows beside it, lines of smaller groups may leave none.
    if (!best || share > best.share + limits.betterLevel.value || share === 1) best = { share, cell };
    if (best.share === 1) break;
  }
  const text = run.text('advantage_normalisation');
  if (!best || best.share >= limits.exactly.value || text === 'batch' || text === 'none') return best;
  // Where only minibatches could tell and they are too small, nothing is known.
  return cellsOf(epoch.rows, epoch.levels[2], fewestInCell).lists.length === 0 ? null : best;
}

/** Tries every transform on the rows that disagree, and tells the cover which of them each row agrees with. */
export function search(question: Question, cover: Cover<PairingHypothesis>): void {
  const { iteration, whole, wrong, identity, reference, earlier, rule } = question;
  const epoch = { ...whole, rows: whole.rows.subarray(0, budgets.pairingRows) };
  const last = epoch.rows[epoch.rows.length - 1];
  const rows = wrong.filter((row) => row <= last);
  const sample = iteration.replays!.column('sample')!;
  const agent = iteration.samples!.column('agent')!;
  const target = gather(epoch.y, rows);
  const context: CreditRows = {
    iteration,
    own: reference,
    target: [],
    wrong: [],
    slack: epoch.slack,
    rule,
    earlier,
  };
  const agents = new Set(rows.map((row) => agent[sample[row]]));
  const struck = (row: number) => agents.has(agent[sample[row]]);
  /** What may have been used, each of several ways by sample, on the levels at which it may have been normalised. */
  const lay = (
    ways: readonly ArrayLike<number>[],
    levels = epoch.levels,
    alone = false,
    plain: LineOf | null = null,
    at = epoch,
  ): Trial | null => {
    if (ways.length === 0) return null;
    const trial = emptyTrial(target);
    for (const vector of ways) {
      const x = new Float64Array(epoch.x.length).fill(Number.NaN);
      for (const row of epoch.rows) x[row] = vector[sample[row]];
      const own = bestLevel(iteration.run, at, x, 1, levels);
      // With most rows right, their line is the normalisation; wrong rows must lie on it too.
      const right = !alone && identity.share >= limits.someRight.value ? identity.cell : null;
      rows.forEach((row, i) => {
        if (Number.isNaN(x[row])) {
          trial.match[i] ||= 1;
          return;
        }
        const sure = own !== null && Math.max(own.share, own.cell.share(row)) >= limits.someMatched.value;
        place(trial, i, own?.cell.get(row), x[row], epoch.x[row], at, sure);
        place(trial, i, right?.get(row), x[row], epoch.x[row], at, true);
        const line = plain?.get(row);
        if (line) trial.before[i] = line.slope * epoch.x[row] + line.intercept;
      });
    }
    return trial;
  };
  const byGroup = (transform: GroupMean): Trial | null => {
    const keys = groupKeys(iteration, transform.by);
    if (!keys) return null;
    if (transform.scaled) {
      const levels = epoch.levels.slice(0, 3).map((level) => (row: number) => withGroup(level(row), keys[sample[row]]));
      return lay([reference], levels, true, identity.cell);
    }
    // Agents of a shared policy may have been normalised each by itself before.
    const forms = [reference, normalised(epoch.rows, epoch.levels[1], reference, sample)];
    return lay(
      forms.map((form) => demeaned(epoch, keys, form, sample, struck)),
      epoch.levels,
      true,
    );
  };
  const trial = ({ transform }: PairingHypothesis): Trial | null => {
    if (transform instanceof GroupMean) return byGroup(transform);
    if (transform instanceof Permutation) return drawn(epoch, rows, question);
    if (transform instanceof PositivePart) {
      const cut = target.filter((used) => used === 0).length;
      if (epoch.rows.some((row) => epoch.y[row] < 0) || cut < limits.most.value * target.length) return null;
      return lay([reference], epoch.levels, true, identity.cell, { ...epoch, clamp: { ...epoch.clamp, low: 0 } });
    }
    // One number is what any column gives somewhere.
    if (transform instanceof InPlaceOf && target.every((used) => used === target[0])) return null;
    const vector = transform.ways ? null : transform.apply(context);
    return lay(transform.ways?.(context) ?? (vector ? [vector] : []), epoch.levels, alone.has(transform.id));
  };
  const single = singles.map(trial);
  const explained = rows.filter((_, i) => single.some((one) => one?.match[i] === 2)).length;
  const both = pairs.map((pair) => (explained < limits.most.value * rows.length ? trial(pair) : null));
  cover.add(
    iteration.number,
    rows.map((row) => agent[sample[row]]),
    [...single, ...both],
  );
}

/** Transforms that make another quantity of the credit, for which the line of right rows is no normalisation. */
const alone = new Set(['sign', 'absolute', 'in-place-of', 'composed']);

const emptyTrial = (target: Float64Array): Trial => ({
  match: new Uint8Array(target.length),
  target,
  before: new Float64Array(target.length).fill(Number.NaN),
  after: new Float64Array(target.length).fill(Number.NaN),
});

/** Takes what a line makes of a row, where it comes nearer than what was there. */
function place(
  trial: Trial,
  i: number,
  line: Line | undefined,
  x: number,
  own: number,
  { slack, clamp }: PairingEpoch,
  sure: boolean,
): void {
  if (!line || Number.isNaN(line.slope)) return;
  const on = (value: number) => Math.max(clamp.low, Math.min(clamp.high, line.slope * value + line.intercept));
  const gap = Math.abs(on(x) - trial.target[i]);
  if (sure && gap <= slack) trial.match[i] = 2;
  if (Math.abs(trial.after[i] - trial.target[i]) <= gap) return;
  trial.after[i] = on(x);
  trial.before[i] = on(own);
}

/** The credit of some agents, sorted. */
function poolOf(agents: ReadonlySet<number>, agent: ArrayLike<number>, reference: ArrayLike<number>): Float64Array {
  const pool = new Float64Array(agent.length);
  let count = 0;
  for (let i = 0; i < agent.length; i++)
    if (agents.has(agent[i]) && Number.isFinite(reference[i])) pool[count++] = reference[i];
  return pool.subarray(0, count).sort();
}

/** Whether used advantages are drawn from the batch's own: the sorted columns lie on one line. */
function drawn(epoch: PairingEpoch, rows: number[], { iteration, identity, reference }: Question): Trial {
  const trial = emptyTrial(gather(epoch.y, rows));
  const sample = iteration.replays!.column('sample')!;
  const agent = iteration.samples!.column('agent')!;
  // All credit of a policy's agents: a minibatch may be given that of rows in other minibatches, or in none.
  const pools = new Map<number, Float64Array>();
  for (const list of cellsOf(epoch.rows, epoch.levels[0], 1).lists)
    pools.set(epoch.levels[0](list[0]), poolOf(new Set(list.map((row) => agent[sample[row]])), agent, reference));
  const strict = { ...epoch, slack: limits.drawnStrictness.value * epoch.slack };
  for (const level of epoch.levels) {
    const { lists } = cellsOf(epoch.rows, level, fewestInCell);
    for (const list of lists) {
      const known = list.filter((row) => Number.isFinite(epoch.x[row] + epoch.y[row]));
      const sortedX = Float64Array.from(known, (row) => epoch.x[row]).sort();
      const sortedY = Float64Array.from(known, (row) => epoch.y[row]).sort();
      // Other rows' credit is of as many kinds as the own; of a few numbers some line always hits the batch's many.
      if (kinds(sortedY) < limits.most.value * kinds(sortedX)) continue;
      const places = Int32Array.from(sortedX, (_, i) => i);
      const line = consensus(sortedX, sortedY, places, epoch.slack, epoch.clamp, 1);
      const partly = identity.share >= limits.someRight.value ? identity.cell.get(list[0]) : undefined;
      const used = line.matched >= limits.nearlyAll.value * places.length ? line : partly;
      const all = pools.get(epoch.levels[0](list[0]))!;
      const whole = used ?? fromPool(all, sortedY, strict.slack);
      const pool = used
        ? sortedX
        : whole
          ? all
          : poolOf(new Set(list.map((row) => agent[sample[row]])), agent, reference);
      const mapped = whole ?? partlyFromPool(pool, sortedY, strict.slack);
      if (!mapped || !(mapped.slope > 0)) continue;
      const inCell = new Set(list);
      rows.forEach((row, i) => {
        if (!inCell.has(row)) return;
        const x = nearest(pool, (epoch.y[row] - mapped.intercept) / mapped.slope);
        place(trial, i, mapped, x, epoch.x[row], strict, true);
      });
    }
    if (rows.length > 0 && trial.match.filter((match) => match === 2).length > limits.nearlyAll.value * rows.length)
      break;
  }
  return trial;
}

/** How many different numbers a sorted column has. */
function kinds(sorted: Float64Array): number {
  let count = 0;
  for (let i = 0; i < sorted.length; i++) if (i === 0 || sorted[i] !== sorted[i - 1]) count++;
  return count;
}
