/** Whether the advantage that entered the loss is the row's own. Any normalisation is a line through the rows of one batch, agent or minibatch; what lies on no such line was mis-paired. */

import { told } from '../../../language/language.ts';
import { Pairs, spread } from '../../../math/statistics.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, creditTolerance, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type CreditRule, findCreditRule } from '../../credit-rule.ts';
import { type Finding, figure, leaving, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import { withAgent, withMinibatch } from '../../evidence/keys.ts';
import { gather } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { foundBy, ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { type Clamp, findClamp, isOn } from '../../pairing/consensus.ts';
import { Cover } from '../../pairing/cover.ts';
import { bestLevel, hypotheses, type PairingEpoch, search } from '../../pairing/search.ts';
import { Constant } from '../../transforms/credit/constant.ts';

export const pairing: Check = {
  id: 'pairing',
  group: 'credit',
  question: ["Is the advantage in the loss the row's own?", '损失中的优势是该行自己的吗？'],
  needs: [['replays.advantage'], ['samples.advantage', 'samples.reward']],
  causes: [...new Set(hypotheses.map(({ cause }) => cause))],
  start: (run) => new PairingPass(run),
};

/** Squashed, ranked or clipped credit still correlates this well with the credit it was made from. */
const kept = limits.unpaired.value;

class PairingPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  private noticed = 0;
  private searched = 0;
  private rule: CreditRule | null = null;
  private earlier: Float64Array | null = null;
  private readonly cover = new Cover(hypotheses);
  /** Whether later passes over the batch use other advantages than the first: they were computed anew from what the critic said then. */
  private readonly recomputed: boolean;
  private passedOver = false;
  private readonly wrongPairs = new Pairs();
  private readonly wrongAgents = new Set<number>();
  private wrongOnset = Number.POSITIVE_INFINITY;
  /** Rows of later passes whose advantages are all one number, while those of the first differ. */
  private readonly emptied = {
    rows: 0,
    onset: Number.POSITIVE_INFINITY,
    agents: new Set<number>(),
    proof: new ProofStore(),
  };

  constructor(private readonly run: Run) {
    this.recomputed = run.text('advantages_recomputed') === 'epoch';
  }

  iteration(iteration: Iteration): void {
    const { samples, replays } = iteration;
    if (!samples) return;
    const reference = this.reference(iteration);
    if (replays?.column('advantage') && reference && !iteration.probed) {
      const sample = replays.column('sample')!;
      const passes = this.recomputed ? 1 : budgets.pairingEpochs;
      this.passedOver ||= this.recomputed && replays.column('epoch')!.some((number) => number > 0);
      const used = replays.column('advantage')!;
      const x = new Float64Array(replays.rows).fill(Number.NaN);
      const y = new Float64Array(replays.rows).fill(Number.NaN);
      for (let pass = 0; pass < passes; pass++) {
        const rows = iteration.pass(pass);
        for (let i = 0; i < rows.length; i++) {
          x[rows[i]] = reference[sample[rows[i]]];
          y[rows[i]] = used[rows[i]];
        }
        if (pass > 0 && isConstant(y, rows) && !isConstant(y, iteration.pass(0))) this.empty(iteration, rows, x, y);
        else if (rows.length > 0) this.epoch(iteration, rows, reference, x, y);
      }
    }
    this.earlier = reference ? new Float64Array(reference) : null;
  }

  private empty(iteration: Iteration, rows: Int32Array, x: Float64Array, y: Float64Array): void {
    const { emptied } = this;
    const agent = iteration.samples!.column('agent')!;
    const sample = iteration.replays!.column('sample')!;
    emptied.rows += rows.length;
    emptied.onset = Math.min(emptied.onset, iteration.number);
    for (const row of rows) emptied.agents.add(agent[sample[row]]);
    const used = gather(y, rows);
    emptied.proof.rows(iteration.number, used, gather(x, rows), used);
  }

  /** Later passes that give every row the same advantage. */
  private constant(): Finding[] {
    const { rows, onset, agents, proof } = this.emptied;
    if (rows < fewestRows) return [];
    const transform = new Constant();
    return [
      {
        cause: 'advantage-degenerate',
        confidence: confidence(1, rows),
        agents: [...agents].sort((a, b) => a - b),
        onset,
        rows,
        transform,
        ...proof.prove('advantage in the loss', 'advantage in the loss', "the row's own", transform),
        told: true,
        summary: told(
          `In later passes over a batch all advantages are the same number on ${rows} rows, while those of the first pass differ: only the first pass teaches anything.`,
          `对同一批数据的后续遍历中，有 ${rows} 行的优势全是同一个数，而第一次遍历的各不相同：只有第一次遍历在学习。`,
        ),
        evidence: [],
      },
    ];
  }

  /** The trainer's own advantages, or recomputed ones where it kept none. */
  private reference(iteration: Iteration): ArrayLike<number> | null {
    const recorded = iteration.samples!.column('advantage');
    if (recorded) return recorded;
    if (!iteration.credit) return null;
    this.rule ??= findCreditRule(this.run, iteration, ['asRecorded']);
    return this.rule ? iteration.advantages('asRecorded', this.rule) : null;
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
    const identity = bestLevel(this.run, epoch, x, 1);
    if (!identity) return;
    if (identity.share === 1) {
      this.looked += identity.cell.rows;
      return;
    }
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
    if (wrong.length > 0 && this.searched < budgets.searches) {
      this.searched++;
      const { earlier, rule } = this;
      search({ iteration, whole: epoch, wrong, identity, reference, earlier, rule }, this.cover);
    }
  }

  private open(iteration: Iteration, all: Int32Array, x: Float64Array, y: Float64Array): PairingEpoch | null {
    const replays = iteration.replays!;
    const sample = replays.column('sample')!;
    const minibatch = replays.column('minibatch')!;
    const policy = replays.column('policy');
    const agent = iteration.samples!.column('agent')!;
    const clamp = this.clamp(y, all);
    // A clamped advantage says its sign and no more; where most are, a line through them would be any line.
    const { low, high } = clamp;
    let outside = 0;
    for (let i = 0; i < all.length; i++) if (y[all[i]] >= high || y[all[i]] <= low) outside++;
    const rows = outside === 0 ? all : all.filter((row) => !(y[row] >= high || y[row] <= low));
    const { std, count } = spread(gather(y, rows));
    // A constant column carries no pairing; another check speaks of it.
    if (count < fewestRows || isConstant(y, rows)) return null;
    const of = (row: number) => (policy ? policy[row] : 0);
    return {
      rows,
      x,
      y,
      slack: creditTolerance * std + this.rounding(iteration, rows, x, y, std),
      clamp,
      levels: [
        of,
        (row) => withAgent(of(row), agent[sample[row]]),
        (row) => withMinibatch(of(row), minibatch[row]),
        (row) => withAgent(withMinibatch(of(row), minibatch[row]), agent[sample[row]]),
      ],
    };
  }

  /** What columns of half precision round away on both sides of the line. */
  private rounding(iteration: Iteration, rows: Int32Array, x: Float64Array, y: Float64Array, std: number): number {
    const used = iteration.replays!.grain('advantage');
    const own = iteration.samples!.grain('advantage');
    if (used + own === 0) return 0;
    const largest = (column: Float64Array) => rows.reduce((most, row) => Math.max(most, Math.abs(column[row]) || 0), 0);
    const slope = std / Math.max(spread(gather(x, rows)).std, limits.vanishing.value);
    return used * largest(y) + slope * own * largest(x);
  }

  private clamp(y: Float64Array, rows: Int32Array): Clamp {
    const declared = this.run.number('advantage_clamp');
    return declared > 0 ? { low: Math.fround(-declared), high: Math.fround(declared) } : findClamp(y, rows);
  }

  /** Any honest treatment of a credit keeps its order by and large; where used and own credit hardly correlate, the rows are not each other's. */
  private unpaired(): Finding | null {
    const { count, correlation } = this.wrongPairs;
    if (count < limits.unpairedRows.value * fewestRows || this.disagreeing < limits.most.value * this.looked)
      return null;
    if (
      !(
        Math.atanh(Math.min(correlation, limits.fullCorrelation.value)) + limits.sigmas.value / Math.sqrt(count) <
        Math.atanh(kept)
      )
    )
      return null;
    return {
      cause: 'advantage-shuffled',
      // Nothing proves a permutation, so this is a candidate and no cause.
      confidence: limits.candidate.value,
      agents: [...this.wrongAgents].sort((a, b) => a - b),
      onset: this.wrongOnset,
      rows: count,
      before: this.disagreeing / this.looked,
      summary: `${percent(this.disagreeing / this.looked)} of the advantages in the loss are not those of their rows, with which they correlate by only ${figure(correlation)}; no known transform restores them.`,
      evidence: [],
    };
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    if (!this.passedOver) return {};
    const summary =
      'Advantages are computed anew before every pass over a batch, as declared; only those of the first pass were compared.';
    return { remarks: [conventionRemark('advantages-recomputed', summary)] };
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = { rows: this.looked, disagreeing: this.disagreeing, share: figure(share) };
    const expected = { share: 0 };
    if (this.looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no minibatch is large enough to tell', '没有足够大的小批量可供判断'),
      };
    const evidence = [{ check: 'pairing', measured, expected }];
    const findings: Finding[] = this.constant().map((finding) => ({ ...finding, evidence }));
    if (this.noticed < fewestRows)
      return {
        ...(findings.length === 0 && this.disagreeing >= fewestRows
          ? { status: 'warn', open: leaving(this.disagreeing, this.looked) }
          : { status: findings.length > 0 ? 'fail' : 'pass' }),
        measured,
        expected,
        findings,
        ...this.remarks(),
      };
    const { found, open } = this.cover.explain();
    const wording = () => ({
      quantity: 'advantage in the loss',
      target: 'advantage in the loss',
      before: "the row's own, normalised likewise",
      summary: (fit: string) =>
        `${percent(share)} of the advantages in the loss are not those of their rows, however they were normalised; ${fit} of them agree with`,
      evidence,
    });
    let rest = open;
    for (const explained of found) {
      if (
        explained.share < limits.explainedLeast.value ||
        explained.rows < Math.max(fewestRows, limits.pairingRows.value * this.cover.rows)
      )
        rest += explained.rows;
      else if (!findings.some(({ cause }) => cause === explained.hypothesis.cause))
        findings.push(...foundBy(explained, wording));
    }
    const lost = this.unpaired();
    if (findings.length === 0 && lost) findings.push({ ...lost, evidence });
    const note =
      open > limits.most.value * this.cover.rows
        ? 'some advantages in the loss are reproduced by no transform that is known'
        : undefined;
    const left = this.cover.left(rest, this.disagreeing, this.looked);
    return {
      ...(findings.length > 0
        ? { status: 'fail', ...(left ? { open: left } : {}) }
        : { status: 'warn', open: left ?? leaving(this.disagreeing, this.looked) }),
      measured,
      expected,
      findings,
      ...this.remarks(),
      ...(note ? { note } : {}),
    };
  }
}

/** Whether the credit of some rows is one number, but for rounding. */
function isConstant(y: ArrayLike<number>, rows: Int32Array): boolean {
  const { std, mean } = spread(gather(y, rows));
  return !(std > limits.rounding.value * Math.max(limits.smallScale.value, Math.abs(mean)));
}
