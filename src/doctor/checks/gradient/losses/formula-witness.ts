/** Which formula the reported policy losses follow, where it is not the mean of the clipped surrogate. A step tells only where the formulas differ; before the first ratios leave the clip most do not. */

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
import { LossFormula, lossForm } from '../../../transforms/loss/loss-formula.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import {
  type Form,
  forms,
  given,
  givesAll,
  isOfPairs,
  isWhole,
  lossRows,
  meanOf,
  type WeighedRow,
} from '../../../transforms/loss/loss-rows.ts';
import { addsUp } from './adds-up.ts';
import { type ClipStep, intervalOf, OtherClip, surrogate } from './other-clip.ts';

interface Count {
  fits: number;
  against: number;
  /** Steps too few to fix a clip that follows a schedule, which some clip or other gives. */
  silent: number;
  proof: ProofStore;
  measured: number;
  expected: number;
}

interface Told {
  /** Steps that the usual formula does not give, and rows in them. */
  steps: number;
  rows: number;
  onset: number;
  usual: number;
  forms: Map<Form, Count>;
  /** The surrogate with a clip that is not the one which the steps tell. */
  elsewhere: Count & { clip: number };
}

const count = (): Count => ({
  fits: 0,
  against: 0,
  silent: 0,
  proof: new ProofStore(),
  measured: 0,
  expected: 0,
});

interface Step extends ClipStep {
  /** Whether the step says its clip. */
  clipTold: boolean;
}

export class FormulaWitness {
  private readonly policies = new Map<number, Told>();
  private readonly other: OtherClip;
  /** The upper clip, where it is farther from 1 than the declared one. */
  high: number | null = null;

  constructor(private readonly run: Run) {
    this.other = new OtherClip(run);
  }

  /** Looks at an iteration's steps: those that the usual formula gives, and those that it does not. Returns whether another clip than the declared one gives the latter. */
  see(
    iteration: Iteration,
    reported: ArrayLike<number>,
    steps: readonly (ReportedStep & { usual: boolean; slack: number })[],
  ): boolean {
    this.other.moved(iteration, reported, steps);
    const odd = steps.filter(({ usual }) => !usual);
    const even = steps.filter(({ usual }) => usual);
    if (odd.length === 0 && this.policies.size === 0 && !this.other.begun) return false;
    let scheduled = odd.length > 0;
    const chosen = [odd, even].flatMap((list) => thinned(list, budgets.formulaSteps));
    const rows = lossRows(iteration, new Set(chosen.map(({ stat }) => keyOf(stat))));
    // Who declares a sum has chosen the step size for it.
    const summed = this.run.text('loss_reduction') === 'sum';
    for (const policy of new Set(chosen.map(({ stat }) => stat.policy))) {
      const own = chosen
        .filter(({ stat }) => stat.policy === policy)
        .map(({ row, stat, usual, slack }): Step => {
          const divisor = summed ? stat.weight : 1;
          const key = keyOf(stat);
          return {
            told: reported[row] / divisor,
            slack: slack / divisor,
            rows: rows.get(key) ?? [],
            expected: stat.loss,
            usual,
            clip: iteration.clipOf(key),
            clipTold: iteration.tellsClip(key),
            used: addsUp(this.run, iteration, row, stat),
          };
        })
        .filter(({ rows }) => rows.length > 0);
      const tell = own.filter(({ usual }) => !usual);
      // A clip that follows a schedule gives other figures than the declared one, the same clip in all steps of an update; a formula that needs no other clip than the declared one is heard first.
      const declared = this.run.declares('clip') && forms.some((form) => givesAll(form, own));
      const said = own.every(({ clipTold }) => clipTold);
      if (!said && !iteration.clips.has(policy)) this.other.see(iteration.number, policy, own);
      if (tell.length > 0 && !declared && !said && (clipOf(tell, surrogate) !== null || this.clipsHigher(tell)))
        continue;
      if (tell.length > 0) scheduled = false;
      const told = this.policies.get(policy) ?? {
        steps: 0,
        rows: 0,
        onset: Number.POSITIVE_INFINITY,
        usual: 0,
        forms: new Map(),
        elsewhere: { ...count(), clip: Number.NaN },
      };
      if (tell.length === 0 && told.steps === 0) continue;
      this.policies.set(policy, told);
      if (tell.length > 0) told.onset = Math.min(told.onset, iteration.number);
      told.usual += own.length - tell.length;
      told.steps += tell.length;
      for (const step of tell) told.rows += step.rows.length;
      for (const form of forms) this.count(form, own, tell, told);
      if (said) this.clipped(own, tell, told.elsewhere);
    }
    return scheduled;
  }

  /** Whether one upper clip, farther from 1 than the lower one, gives all steps, and the same in every update. */
  private clipsHigher(steps: readonly Step[]): boolean {
    const low = steps[0].clip;
    const term = ({ ratio, advantage: a }: WeighedRow, high: number) =>
      Math.min(ratio * a, Math.min(Math.max(ratio, 1 - low), 1 + high) * a);
    if (this.high === null) {
      const found = this.run.declares('clip') && steps.length >= limits.fitRows.value ? clipOf(steps, term) : null;
      if (found === null || found < low * (1 + limits.formulaSame.value)) return false;
      this.high = found;
    }
    const given = steps.filter(
      ({ told, slack, rows }) => Math.abs(told + meanOf(rows, (row) => term(row, this.high!))) <= slack,
    );
    return given.length >= limits.formulaExact.value * steps.length;
  }

  /** Which steps a formula gives; with the clip in use, or else with whichever one clip gives nearly all of them. */
  private count(form: Form, own: readonly Step[], tell: readonly Step[], told: Told): void {
    const term = (row: WeighedRow, clip: number) => (isWhole(form) ? 0 : lossForm(form).value(row, clip));
    const value = (step: Step, clip: number) =>
      given(form, step.rows, clip).find((one) => Math.abs(step.told - one) <= step.slack);
    const known = tell.filter((step) => value(step, step.clip) !== undefined).length;
    // Who tells the clip of every step leaves none to be found.
    const open = !isWhole(form) && known < tell.length && !own.every(({ clipTold }) => clipTold);
    const free = open ? clipOf(tell, term) : null;
    const into = told.forms.get(form) ?? count();
    told.forms.set(form, into);
    if (free !== null && tell.length < limits.fitRows.value) into.silent += tell.length;
    else tallied(own, (step) => value(step, free ?? step.clip), into);
  }

  /** Which steps the surrogate gives with one clip for all, where each step says another. */
  private clipped(own: readonly Step[], tell: readonly Step[], into: Told['elsewhere']): void {
    // A few steps do not fix a clip.
    const clip = tell.length < limits.fitRows.value ? null : clipOf(own, surrogate);
    if (clip === null) {
      if (tell.length < limits.fitRows.value) into.silent += tell.length;
      else into.against += tell.length;
      return;
    }
    into.clip = clip;
    const value = ({ told, slack, rows }: Step) => {
      const loss = -meanOf(rows, (row) => surrogate(row, clip));
      return Math.abs(told - loss) <= slack ? loss : undefined;
    };
    tallied(own, value, into);
  }

  /** The formula that gives the steps which the usual one does not, and speaks against none of the others. */
  findings(evidence: Finding['evidence'], kept: ReadonlyMap<number, number>): Finding[] {
    const findings = this.other.findings(evidence, kept);
    if (findings.length > 0) return findings;
    // One program computes all policies' losses: what is too rare in one of them may be enough in all.
    const everyone = [...this.policies.values()];
    const inAll = (form: Form) => everyone.reduce((sum, { forms }) => sum + (forms.get(form)?.fits ?? 0), 0);
    for (const [policy, { steps, rows, onset, usual, forms, elsewhere }] of this.policies) {
      const exact = ({ fits, against, silent }: Count) =>
        fits >= limits.formulaExact.value * (steps - silent) &&
        against <= (1 - limits.formulaExact.value) * (steps + usual);
      if (elsewhere.fits >= limits.fewestSteps.value && exact(elsewhere)) {
        const transform = new LossClip(elsewhere.clip);
        findings.push({
          cause: 'loss-formula-differs',
          confidence: confidence(elsewhere.fits / (steps - elsewhere.silent), elsewhere.fits * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset,
          rows,
          transform,
          ...elsewhere.proof.prove('policy loss', 'as reported', 'with the clip of its step', transform),
          summary: told(
            `The policy loss does not follow the clip that its steps tell (${figure(elsewhere.measured)} reported, ${figure(elsewhere.expected)} expected); on ${elsewhere.fits} of the ${steps} steps that tell it is ${transform.describe()}.`,
            `策略损失没有使用各步所说的裁剪范围（报告 ${figure(elsewhere.measured)}，应为 ${figure(elsewhere.expected)}）；能说明问题的 ${steps} 步中有 ${elsewhere.fits} 步是${transform.describe()}。`,
          ),
          told: true,
          evidence,
        });
        continue;
      }
      const ranked = [...forms].sort(([, a], [, b]) => b.fits - a.fits || a.against - b.against);
      const [form, best] = ranked[0] ?? [];
      if (!form || !best || best.fits === 0 || inAll(form) < limits.fewestSteps.value) continue;
      const share = best.fits / (steps - best.silent);
      if (share < limits.formulaExact.value || best.against > (1 - limits.formulaExact.value) * (steps + usual))
        continue;
      const transform = isWhole(form) ? new LossIs(form, 'policy') : new LossFormula(form);
      findings.push({
        cause: isOfPairs(form) ? 'broadcast-mismatch' : 'loss-formula-differs',
        confidence: confidence(share, inAll(form) * limits.perStep.value),
        agents: this.run.agentsOf(policy),
        onset,
        rows,
        transform,
        ...best.proof.prove('policy loss', 'as reported', 'mean of the clipped surrogate', transform),
        summary: `The policy loss is not the clipped surrogate (${figure(best.measured)} reported, ${figure(best.expected)} expected); on ${best.fits} of the ${steps} steps that tell it is made of ${transform.describe()}.`,
        evidence,
      });
    }
    return findings;
  }
}

/** Counts the steps that a formula gives, and keeps those that the usual one does not. */
function tallied(steps: readonly Step[], value: (step: Step) => number | undefined, into: Count): void {
  for (const step of steps) {
    const found = value(step);
    if (found === undefined) into.against++;
    else if (!step.usual) {
      into.fits++;
      into.measured = step.told;
      into.expected = step.expected;
      into.proof.step(step.told, step.expected, found);
    }
  }
}

/** The one clip, whichever it is, with which a formula gives nearly all of these steps; null where none does. A wider clip changes a loss in one direction only, so each step has an interval of clips that give it. */
function clipOf(steps: readonly Step[], term: (row: WeighedRow, clip: number) => number): number | null {
  const intervals = steps.map((step) => intervalOf(step, term));
  for (const one of intervals) {
    if (one === null) continue;
    const found = [one.from, (one.from + one.to) / 2, one.to].find(
      (clip) =>
        clip > limits.rounding.value &&
        intervals.filter(
          (other) => other && clip >= other.from - limits.rounding.value && clip <= other.to + limits.rounding.value,
        ).length >=
          limits.formulaExact.value * steps.length,
    );
    if (found !== undefined) return found;
  }
  return null;
}
