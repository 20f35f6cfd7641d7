/** One clip of the ratio that is not the declared one and gives the policy losses of the whole run. A clip that follows a schedule moves from update to update, and one that is wider above alone is a custom: neither is taken for it. */
import { told } from '../../../../language/language.ts';
import { budgets } from '../../../budgets.ts';
import { confidence } from '../../../check.ts';
import { type Finding, figure } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import { thinned } from '../../../evidence/rows.ts';
import type { Run } from '../../../evidence/run.ts';
import type { ReportedStep } from '../../../evidence/steps/reported-steps.ts';
import { keyOf } from '../../../evidence/steps/step-key.ts';
import { ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { LossClip } from '../../../transforms/loss/loss-clip.ts';
import { LossFormula } from '../../../transforms/loss/loss-formula.ts';
import { type LossStep, lossRows, meanOf, type WeighedRow } from '../../../transforms/loss/loss-rows.ts';
import { addsUp } from './adds-up.ts';

export interface ClipStep extends LossStep {
  /** What the declared clip gives, and whether that is what was told. */
  expected: number;
  usual: boolean;
  /** The whole loss is what its parts give: the loss that was told is the one in use. */
  used: boolean;
}

type Term = (row: WeighedRow, clip: number) => number;
interface Interval {
  from: number;
  to: number;
}

const between = (ratio: number, low: number, high: number, a: number) =>
  Math.min(ratio * a, Math.min(Math.max(ratio, 1 - low), 1 + high) * a);
export const surrogate: Term = ({ ratio, advantage: a }, clip) => between(ratio, clip, clip, a);

/** The clips with which a formula gives a step; null where none does. A wider clip changes a loss in one direction only. */
export function intervalOf({ told, slack, rows }: LossStep, term: Term): Interval | null {
  const loss = (clip: number) => -meanOf(rows, (row) => term(row, clip));
  const [narrow, wide] = [loss(0), loss(limits.widestClip.value)];
  const falls = narrow >= wide ? 1 : -1;
  const where = (wanted: number) => {
    let [low, high] = [0, limits.widestClip.value];
    for (let i = 0; i < budgets.clipHalvings; i++) {
      const middle = (low + high) / 2;
      if (falls * (loss(middle) - wanted) > 0) low = middle;
      else high = middle;
    }
    return low;
  };
  const reachable = falls * (narrow - told) >= -slack && falls * (told - wide) >= -slack;
  return reachable ? { from: where(told + falls * slack), to: where(told - falls * slack) } : null;
}

const meet = (a: Interval | null, b: Interval | null): Interval | null => {
  if (!a || !b) return null;
  const both = { from: Math.max(a.from, b.from), to: Math.min(a.to, b.to) };
  return both.from <= both.to + limits.rounding.value ? both : null;
};
const anywhere = (): Interval => ({ from: 0, to: limits.widestClip.value });

interface Own {
  /** Clips that give all steps: on both sides of 1, above alone and below alone, the other side as declared. */
  both: Interval | null;
  above: Interval | null;
  below: Interval | null;
  /** No clip at all gives all steps. */
  free: boolean;
  /** Steps that the declared clip does not give, those of them that the whole loss vouches for, and rows in them. */
  steps: number;
  used: number;
  rows: number;
  /** Updates whose steps alone fix the clip. */
  fixed: number;
  onset: number;
  shown: { told: number; expected: number; rows: ClipStep['rows'] }[];
}

export class OtherClip {
  private readonly policies = new Map<number, Own>();

  constructor(private readonly run: Run) {}

  get begun(): boolean {
    return this.policies.size > 0;
  }

  /** Updates whose losses a clip gives that is not the declared one: all of their steps, beside what the declared one gives. */
  moved(iteration: Iteration, reported: ArrayLike<number>, steps: readonly (ReportedStep & { slack: number })[]): void {
    const clip = this.run.number('clip');
    const summed = this.run.text('loss_reduction') === 'sum';
    for (const policy of iteration.clips.keys()) {
      const chosen = thinned(
        steps.filter(({ stat }) => stat.policy === policy && !iteration.tellsClip(keyOf(stat))),
        budgets.formulaSteps,
      );
      const rows = lossRows(iteration, new Set(chosen.map(({ stat }) => keyOf(stat))));
      const own = chosen.map(({ row, stat, slack }): ClipStep => {
        const [list, divisor] = [rows.get(keyOf(stat)) ?? [], summed ? stat.weight : 1];
        const expected = -meanOf(list, (one) => surrogate(one, clip));
        const told = reported[row] / divisor;
        const usual = Math.abs(told - expected) <= slack / divisor;
        const used = addsUp(this.run, iteration, row, stat);
        return { told, slack: slack / divisor, rows: list, clip, expected, usual, used };
      });
      this.see(
        iteration.number,
        policy,
        own.filter(({ rows }) => rows.length > 0),
      );
    }
  }

  /** All steps of an update that were looked at. */
  see(iteration: number, policy: number, steps: readonly ClipStep[]): void {
    const clip = this.run.number('clip');
    const tell = steps.filter(({ usual }) => !usual);
    const before = this.policies.get(policy);
    if (!(clip > 0) || (tell.length === 0 && !before)) return;
    const own = before ?? {
      ...{ both: anywhere(), above: anywhere(), below: anywhere(), free: true },
      ...{ steps: 0, used: 0, rows: 0, fixed: 0, onset: iteration, shown: [] },
    };
    this.policies.set(policy, own);
    const all = (term: Term) => steps.map((step) => intervalOf(step, term)).reduce<Interval | null>(meet, anywhere());
    const here = own.both && all(surrogate);
    own.both = meet(own.both, here);
    own.above &&= meet(
      own.above,
      all(({ ratio, advantage: a }, high) => between(ratio, clip, high, a)),
    );
    own.below &&= meet(
      own.below,
      all(({ ratio, advantage: a }, low) => between(ratio, low, clip, a)),
    );
    own.free &&= steps.every(
      ({ told, slack, rows }) => Math.abs(told + meanOf(rows, ({ ratio, advantage }) => ratio * advantage)) <= slack,
    );
    if (here && here.to <= (1 + limits.clipFixed.value) * here.from) own.fixed++;
    own.steps += tell.length;
    own.used += tell.filter(({ used }) => used).length;
    own.rows += tell.reduce((sum, { rows }) => sum + rows.length, 0);
    if (own.shown.length < budgets.formulaSteps) own.shown.push(...tell);
  }

  /** `kept`: by policy, steps that the declared clip shows in and whose loss has it. A clip that changed once is a schedule. */
  findings(evidence: Finding['evidence'], kept: ReadonlyMap<number, number>): Finding[] {
    const declared = this.run.number('clip');
    return [...this.policies].flatMap(([policy, own]): Finding[] => {
      const { both, above, below, free, steps, used, rows, fixed, onset, shown } = own;
      if ((!both && !free) || above || below || steps < limits.fewestSteps.value) return [];
      if ((kept.get(policy) ?? 0) > (1 - limits.formulaExact.value) * steps) return [];
      // A loss without a clip is also printed beside a gradient that has it.
      if (free ? used < limits.formulaExact.value * steps : fixed < limits.fitRows.value) return [];
      const clip = free || !both ? Number.POSITIVE_INFINITY : (both.from + both.to) / 2;
      if (Math.abs(clip / declared - 1) < limits.clipElsewhere.value) return [];
      const transform = free ? new LossFormula('unclipped') : new LossClip(clip);
      const proof = new ProofStore();
      for (const step of shown) proof.step(step.told, step.expected, -meanOf(step.rows, (row) => surrogate(row, clip)));
      const [first] = shown;
      return [
        {
          cause: 'loss-formula-differs',
          confidence: confidence(1, steps * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset,
          rows,
          transform,
          ...proof.prove('policy loss', 'as reported', 'with the declared clip', transform),
          told: true,
          summary: told(
            `The policy loss does not have the declared clip of ${figure(declared)} (${figure(first.told)} reported, ${figure(first.expected)} expected); on all ${steps} steps that tell it is ${transform.describe()}.`,
            `策略损失没有使用声明的裁剪范围 ${figure(declared)}（报告 ${figure(first.told)}，应为 ${figure(first.expected)}）；能说明问题的 ${steps} 步全是${transform.describe()}。`,
          ),
          evidence,
        },
      ];
    });
  }
}
