/** Whether the advantage that entered the loss is the row's own. Any normalisation is a line through the rows of one batch, agent or minibatch; what lies on no such line was mis-paired. */

import { lagged } from '../../math/chains.ts';
import { Pairs, spread } from '../../math/statistics.ts';
import { type Check, confidence, creditTolerance, fewestRows, noticedShare, type Pass } from '../check.ts';
import { type Clamp, cellsOf, consensus, findClamp, isOn, type Line } from '../consensus.ts';
import { Cover, type Hypothesis } from '../cover.ts';
import { type CreditRule, findCreditRule } from '../credit-rule.ts';
import { type Finding, figure, type Outcome } from '../diagnosis.ts';
import { groupKeys } from '../groups.ts';
import type { Iteration } from '../iteration.ts';
import { limits } from '../limits.ts';
import { alike, demeaned, fromPool, LineOf, nearest, normalised, swapped } from '../pairing-vectors.ts';
import { gather, rowsWhere } from '../rows.ts';
import type { Run } from '../run.ts';
import { endRules, lags } from './credit.ts';

const shifts = [1, 2, 3, 4, 5, 6, 7];

const hypotheses: readonly Hypothesis[] = [
  { cause: 'advantage-sign-flipped', transform: 'sign' },
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: `lag ${lag} within (episode, agent)` })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: `lag ${lag} within the (env, agent) stream` })),
  { cause: 'advantage-agent-swapped', transform: 'another agent at the same (episode, t)' },
  { cause: 'return-inconsistent', transform: "the earlier iteration's advantages" },
  { cause: 'advantage-degenerate', transform: 'absolute value' },
  { cause: 'advantage-degenerate', transform: 'the return in place of the advantage' },
  ...endRules.map(({ cause, transform }) => ({ cause, transform })),
  ...['mean per action', "mean per place in the row's list", 'mean per group'].flatMap((transform) => [
    { cause: 'advantage-group-demeaned', transform: `${transform}, each with its own scale` },
    { cause: 'advantage-group-demeaned', transform },
  ]),
  { cause: 'advantage-shuffled', transform: 'a permutation of the rows' },
];

export const pairing: Check = {
  id: 'pairing',
  group: 'credit',
  question: "Is the advantage in the loss the row's own?",
  needs: [['replays.advantage'], ['samples.advantage', 'samples.reward']],
  causes: [...new Set(hypotheses.map(({ cause }) => cause))],
  start: (run) => new PairingPass(run),
};

/** Rows of one epoch that transforms are tried on. */
const triedRows = 8192;
const fewestInCell = 5;
/** Squashed, ranked or clipped credit still correlates this well with the credit it was made from. */
const kept = limits.unpaired.value;
/** Later passes over the batch use the pairing of the first ones. */
const triedEpochs = 2;

interface Epoch {
  /** Replay rows of this epoch that carry weight. */
  rows: Int32Array;
  x: Float64Array;
  y: Float64Array;
  slack: number;
  clamp: Clamp;
  levels: ((row: number) => number)[];
}

class PairingPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  private noticed = 0;
  private searched = 0;
  private rule: CreditRule | null = null;
  private earlier: Float64Array | null = null;
  private readonly cover = new Cover(hypotheses);
  private readonly wrongPairs = new Pairs();
  private readonly wrongAgents = new Set<number>();
  private wrongOnset = Number.POSITIVE_INFINITY;

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples) return;
    const reference = this.reference(iteration);
    if (replays?.column('advantage') && reference && !iteration.probed) {
      const epoch = replays.column('epoch')!;
      const sample = replays.column('sample')!;
      const weight = replays.column('weight');
      const { own } = iteration;
      const tried = rowsWhere(replays.rows, (i) => epoch[i] < triedEpochs && own[i] === 1 && weight?.[i] !== 0);
      const used = replays.column('advantage')!;
      const x = new Float64Array(replays.rows).fill(Number.NaN);
      const y = new Float64Array(replays.rows).fill(Number.NaN);
      for (const row of tried) {
        x[row] = reference[sample[row]];
        y[row] = used[row];
      }
      for (const rows of cellsOf(tried, (row) => epoch[row], 1).lists) this.epoch(iteration, rows, reference, x, y);
    }
    this.earlier = reference ? new Float64Array(reference) : null;
  }

  /** The trainer's own advantages, or recomputed ones where it kept none. */
  private reference(iteration: Iteration): ArrayLike<number> | null {
    const recorded = iteration.samples!.column('advantage');
    if (recorded) return recorded;
    if (!iteration.credit) return null;
    this.rule ??= findCreditRule(this.run, iteration, ['asRecorded']);
    return this.rule ? iteration.advantages('asRecorded', this.rule.gamma, this.rule.lambda) : null;
  }

  private epoch(
    iteration: Iteration,
    rows: Int32Array,
    reference: ArrayLike<number>,
    x: Float64Array,
    y: Float64Array,
  ): void {
    const epoch = this.open(iteration, rows, x, y);
    if (!epoch) return;
    const agent = iteration.samples!.column('agent')!;
    const sample = iteration.replays!.column('sample')!;
    const identity = this.bestLevel(epoch, x, 1);
    if (!identity) return;
    const cells = new Map<number, { looked: number; wrong: number[] }>();
    let latest = Number.NaN;
    let cell = { looked: 0, wrong: [] as number[] };
    for (const row of rows) {
      const line = identity.cell.get(row);
      if (!line || Number.isNaN(x[row] + y[row])) continue;
      const who = agent[sample[row]];
      if (who !== latest) {
        latest = who;
        cell = cells.get(who) ?? { looked: 0, wrong: [] };
        cells.set(who, cell);
      }
      cell.looked++;
      if (!isOn(x[row], y[row], line.slope, line.intercept, epoch.slack, epoch.clamp)) cell.wrong.push(row);
    }
    const wrong: number[] = [];
    for (const { looked, wrong: own } of cells.values()) {
      this.looked += looked;
      this.disagreeing += own.length;
      if (own.length >= noticedShare * looked && own.length >= 2) for (const row of own) wrong.push(row);
    }
    this.noticed += wrong.length;
    for (const row of wrong) {
      this.wrongPairs.add(x[row], y[row]);
      this.wrongAgents.add(agent[sample[row]]);
      this.wrongOnset = Math.min(this.wrongOnset, iteration.number);
    }
    if (wrong.length > 0 && this.searched < 12) {
      this.searched++;
      this.explain(iteration, epoch, wrong, identity, reference);
    }
  }

  private open(iteration: Iteration, all: Int32Array, x: Float64Array, y: Float64Array): Epoch | null {
    const replays = iteration.replays!;
    const sample = replays.column('sample')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const agent = iteration.samples!.column('agent')!;
    const clamp = this.clamp(y, all);
    // A clamped advantage says its sign and no more; where most are, a line through them would be any line.
    const { low, high } = clamp;
    const inside = rowsWhere(all.length, (i) => !(y[all[i]] >= high || y[all[i]] <= low));
    const rows = inside.length === all.length ? all : inside.map((i) => all[i]);
    const { std, mean, count } = spread(gather(y, rows));
    // A constant column carries no pairing; another check speaks of it.
    if (count < fewestRows || !(std > 1e-6 * Math.max(1e-3, Math.abs(mean)))) return null;
    const of = (row: number) => (policy ? policy[row] : 0);
    return {
      rows,
      x,
      y,
      slack: creditTolerance * std,
      clamp,
      levels: [
        of,
        (row) => of(row) * 4096 + agent[sample[row]],
        (row) => of(row) * 1e6 + minibatch[row],
        (row) => (of(row) * 1e6 + minibatch[row]) * 4096 + agent[sample[row]],
      ],
    };
  }

  private clamp(y: Float64Array, rows: Int32Array): Clamp {
    const declared = this.run.number('advantage_clamp');
    return declared > 0 ? { low: Math.fround(-declared), high: Math.fround(declared) } : findClamp(y, rows);
  }

  /** The level of normalisation at which most rows lie on their cell's line. */
  private bestLevel(epoch: Epoch, x: ArrayLike<number>, sign: 1 | -1, levels = epoch.levels) {
    let best: { share: number; cell: LineOf } | null = null;
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
    const text = this.run.text('advantage_normalisation');
    if (!best || best.share >= 0.98 || text === 'batch' || text === 'none') return best;
    // Where only minibatches could tell and they are too small, nothing is known.
    return cellsOf(epoch.rows, epoch.levels[2], fewestInCell).lists.length === 0 ? null : best;
  }

  private explain(
    iteration: Iteration,
    whole: Epoch,
    wrong: number[],
    identity: { share: number; cell: LineOf },
    reference: ArrayLike<number>,
  ): void {
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
      const own = this.bestLevel(epoch, x, sign, levels);
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
    test(this.earlier ? Float64Array.from(reference, (_, row) => this.earlier![row] ?? Number.NaN) : null);
    test(Float64Array.from(reference, Math.abs), 1, epoch.levels, true);
    test(iteration.samples!.column('return'), 1, epoch.levels, true);
    for (const { rule } of endRules)
      test(this.rule && iteration.credit ? iteration.advantages(rule, this.rule.gamma, this.rule.lambda) : null);
    const agents = new Set(rows.map((row) => agent[sample[row]]));
    const struck = (row: number) => agents.has(agent[sample[row]]);
    for (const by of ['action', 'place', 'group'] as const) {
      const keys = groupKeys(iteration, by);
      const levels = epoch.levels
        .slice(0, 3)
        .map((level) => (row: number) => level(row) * 65536 + (keys ? keys[sample[row]] : 0));
      test(keys ? reference : null, 1, levels, true);
      // Agents of a shared policy may have been normalised each by itself before.
      const forms = [reference, normalised(epoch.rows, epoch.levels[1], reference, sample)];
      any(
        forms.map((form) => () => {
          test(keys ? demeaned(epoch, keys, form, sample, struck) : null, 1, epoch.levels, true);
        }),
      );
    }
    matched.push(this.drawn(epoch, rows, identity));
    const matches = new Uint8Array(hypotheses.length);
    rows.forEach((row, i) => {
      for (let h = 0; h < matches.length; h++) matches[h] = matched[h][i];
      this.cover.add(matches, agent[sample[row]], iteration.number);
    });
  }

  /** Whether used advantages are drawn from the batch's own: the sorted columns lie on one line. */
  private drawn(epoch: Epoch, rows: number[], identity: { share: number; cell: LineOf }): Uint8Array {
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

  /** Any honest treatment of a credit keeps its order by and large; where used and own credit hardly correlate, the rows are not each other's. */
  private unpaired(): Finding | null {
    const { count, correlation } = this.wrongPairs;
    if (count < 10 * fewestRows || this.disagreeing < 0.5 * this.looked) return null;
    if (!(Math.atanh(Math.min(correlation, 0.999999)) + limits.sigmas.value / Math.sqrt(count) < Math.atanh(kept)))
      return null;
    return {
      cause: 'advantage-shuffled',
      confidence: 0.6,
      agents: [...this.wrongAgents].sort((a, b) => a - b),
      onset: this.wrongOnset,
      rows: count,
      before: this.disagreeing / this.looked,
      summary: `${figure((100 * this.disagreeing) / this.looked)} % of the advantages in the loss are not those of their rows, with which they correlate by only ${figure(correlation)}; no known transform restores them.`,
      evidence: [],
    };
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = { rows: this.looked, disagreeing: this.disagreeing, share: figure(share) };
    const expected = { share: 0 };
    if (this.looked === 0)
      return { status: 'not-checked', measured, expected, findings: [], note: 'no minibatch is large enough to tell' };
    if (this.noticed < fewestRows)
      return { status: this.disagreeing > 0 ? 'warn' : 'pass', measured, expected, findings: [] };
    const findings: Finding[] = [];
    const { found, open } = this.cover.explain();
    for (const { hypothesis, rows, share: fit, agents, onset } of found) {
      if (fit < 0.4) continue;
      if (rows < fewestRows || rows < 0.1 * this.cover.rows) continue;
      if (findings.some(({ cause }) => cause === hypothesis.cause)) continue;
      findings.push({
        cause: hypothesis.cause,
        confidence: confidence(fit, rows),
        agents,
        onset,
        rows,
        transform: hypothesis.transform,
        before: share,
        after: share * (1 - fit),
        summary: `${figure(100 * share)} % of the advantages in the loss are not those of their rows, however they were normalised; ${figure(100 * fit)} % of them agree with: ${hypothesis.transform}.`,
        evidence: [{ check: 'pairing', measured, expected }],
      });
    }
    const lost = this.unpaired();
    if (findings.length === 0 && lost) findings.push({ ...lost, evidence: [{ check: 'pairing', measured, expected }] });
    const note =
      open > 0.5 * this.cover.rows
        ? 'some advantages in the loss are reproduced by no transform that is known'
        : undefined;
    return { status: findings.length > 0 ? 'fail' : 'warn', measured, expected, findings, ...(note ? { note } : {}) };
  }
}
