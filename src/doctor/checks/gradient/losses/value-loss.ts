/** The value loss as it was reported against what values, returns and old values give by the formulas that programs use: the one that keeps the quotient of the two constant over the steps of an update is the one in use. */
import { told } from '../../../../language/language.ts';
import { budgets } from '../../../budgets.ts';
import { type Check, confidence, type Pass } from '../../../check.ts';
import type { Finding, Outcome } from '../../../diagnosis.ts';
import { lineOf, onOneLine } from '../../../evidence/critic-line.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import { listOf } from '../../../evidence/keys.ts';
import { thinned } from '../../../evidence/rows.ts';
import type { Run } from '../../../evidence/run.ts';
import { type ReportedStep, reportedSteps, unmasked } from '../../../evidence/steps/reported-steps.ts';
import { keyOf, stepKey } from '../../../evidence/steps/step-key.ts';
import type { StepStat } from '../../../evidence/steps/step-stats.ts';
import { merge, ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import { ValueFormula, valueForm } from '../../../transforms/loss/value-formula.ts';
import {
  type Fit,
  fitOf,
  given,
  isRight,
  type ValueReading,
  type ValueRows,
} from '../../../transforms/loss/value-rows.ts';
import type { Transform } from '../../../transforms/transform.ts';
import { isSummed, ValueSearch } from './value-search.ts';

export const valueLoss: Check = {
  id: 'value-loss',
  group: 'gradient',
  question: ['Is the value loss what its rows give?', '价值损失与其数据行算出的一致吗？'],
  needs: [['steps.value_loss'], ['replays.value'], ['replays.return']],
  causes: ['broadcast-mismatch', 'loss-formula-differs', 'value-scale-mismatch', 'loss-summed', 'metric-misreported'],
  start: (run) => new ValueLossPass(run),
};

const pairsOfValues = new LossIs('all-pairs', 'value');
const sumOfValues = new LossIs('sum', 'value');
const { valueFormula, formulaApart, valueRounding, formulaExact } = limits;

interface Wrong {
  cause: string;
  transform: Transform;
  updates: number;
  steps: number;
  rows: number;
  onset: number;
  policies: Set<number>;
  proof: ProofStore;
}

/** A step's reported value loss, and its rows: those that count, and all. */
interface ToldStep {
  told: number;
  stat: StepStat;
  all: StepStat;
  iteration: number;
}

const exact = valueRounding.value * valueFormula.value;

class ValueLossPass implements Pass {
  /** By policy, the steps of updates that are too short to be read alone. */
  private readonly single = new Map<number, ToldStep[]>();
  /** Updates that a right formula gives, and those that none does. */
  private right = 0;
  private other = 0;
  /** Of the latter, those whose every row is known: no formula that was declared gives them either. */
  private readonly strange = { updates: 0, rows: 0, onset: Number.POSITIVE_INFINITY };
  private steps = 0;
  private readonly wrong = new Map<string, Wrong>();
  private readonly searching: ValueSearch;

  constructor(private readonly run: Run) {
    this.searching = new ValueSearch(run);
  }

  iteration(iteration: Iteration): void {
    const reported = iteration.steps?.column('value_loss');
    if (!reported || iteration.probed) return;
    const steps = reportedSteps(iteration);
    for (const policy of new Set(steps.map(({ stat }) => stat.policy))) {
      const own = steps.filter(
        ({ row, stat }) =>
          stat.policy === policy && reported[row] > 0 && stat.valueLoss > 0 && stat.rows >= limits.fewestSteps.value,
      );
      const told = own.map(({ row, stat }) => ({
        told: reported[row],
        stat,
        all: unmasked(iteration, stat) ?? stat,
        iteration: iteration.number,
      }));
      // A program of one step per batch is read off several updates together.
      if (own.length < limits.fewestSteps.value) listOf(this.single, policy).push(...told);
      else {
        this.steps += own.length;
        this.update(iteration, policy, own, reported, told);
      }
    }
  }

  /** How the mean over the rows gives some steps; null, and noted, where the mean over all pairs does in its place. */
  private besidePairs(policy: number, own: readonly ToldStep[]): Fit | null {
    const quotient = (pick: (step: ToldStep) => number) => ({
      ...fitOf(own.map((step) => step.told / pick(step))),
      pick,
    });
    const steadiest = (picks: readonly ((step: ToldStep) => number)[]) =>
      picks.map(quotient).reduce((a, b) => (b.varies < a.varies ? b : a));
    // Means or sums, of the rows that the policy's loss counts or of all.
    const rows = steadiest([
      ({ stat }) => stat.valueLoss,
      ({ all }) => all.valueLoss,
      ({ stat }) => stat.valueLoss * stat.weight,
      ({ all }) => all.valueLoss * all.weight,
    ]);
    const outer = steadiest([({ stat }) => stat.outerValueLoss, ({ all }) => all.outerValueLoss]);
    if (!(outer.varies < valueFormula.value && rows.varies > formulaApart.value * Math.max(outer.varies, exact)))
      return rows;
    const wrong = this.note('broadcast-mismatch', pairsOfValues, policy, own);
    for (const step of own) wrong.proof.step(step.told, rows.mean * rows.pick(step), outer.mean * outer.pick(step));
    return null;
  }

  private update(
    iteration: Iteration,
    policy: number,
    own: ReportedStep[],
    reported: ArrayLike<number>,
    told: readonly ToldStep[],
  ): void {
    const rows = this.besidePairs(policy, told);
    if (!rows) return;
    // Who declares a clip of the values is owed its number, even where the error alone gives it.
    if (rows.varies <= exact && !this.searching.clips) {
      this.take(iteration, policy, told, rows.mean);
      return;
    }
    const known = this.rowsOf(iteration, policy, own, reported);
    const found = known && this.searching.find(known, iteration.clipOf(keyOf(own[0].stat)));
    if (!known || !found) {
      if (rows.varies < valueFormula.value) this.take(iteration, policy, told, rows.mean);
      else {
        this.other++;
        if (known) {
          this.strange.updates++;
          this.strange.rows += told.reduce((sum, { stat }) => sum + stat.rows, 0);
          this.strange.onset = Math.min(this.strange.onset, iteration.number);
        }
      }
      return;
    }
    const clipped = isRight(found) && this.searching.isOther(known, found);
    if (isRight(found) && !clipped) {
      const mean = fitOf(known.map((step) => step.told / given({ ...found, summed: false }, step))).mean;
      this.take(iteration, policy, told, mean);
      return;
    }
    const formed = !clipped && valueForm(found.form).right === true;
    const transform = new ValueFormula(
      found.form,
      found.old === 'rewards' ? 'units-of-rewards' : 'own-units',
      found.clip,
    );
    const wrong = this.note(formed ? 'value-scale-mismatch' : 'loss-formula-differs', transform, policy, told);
    const usual = valueForm(found.form).free ? 'plain' : 'larger';
    const meant: ValueReading = clipped
      ? { ...found, form: 'larger', clip: this.run.number('value_clip') }
      : { ...found, form: formed ? found.form : usual, old: 'targets' };
    for (const step of known) wrong.proof.step(step.told, given(meant, step), given(found, step));
  }

  /** An update that a right formula gives: right, unless it is a sum beside a policy loss that is a mean. */
  private take(iteration: Iteration, policy: number, told: readonly ToldStep[], quotient: number): void {
    if (!isSummed(this.run, iteration, told, quotient)) {
      this.right++;
      return;
    }
    const wrong = this.note('loss-summed', sumOfValues, policy, told);
    for (const step of told) wrong.proof.step(step.told, step.told / step.stat.weight, step.told);
  }

  private note(cause: string, transform: Transform, policy: number, own: readonly ToldStep[]): Wrong {
    const key = JSON.stringify(transform);
    const wrong = this.wrong.get(key) ?? {
      cause,
      transform,
      updates: 0,
      steps: 0,
      rows: 0,
      onset: Number.POSITIVE_INFINITY,
      policies: new Set<number>(),
      proof: new ProofStore(),
    };
    this.wrong.set(key, wrong);
    wrong.updates += new Set(own.map(({ iteration }) => iteration)).size;
    wrong.steps += own.length;
    wrong.rows += own.reduce((sum, { stat }) => sum + stat.rows, 0);
    wrong.onset = Math.min(wrong.onset, own[0].iteration);
    wrong.policies.add(policy);
    return wrong;
  }

  /** The rows of some steps with their old values; null where the critic's units when it acted are not known. */
  private rowsOf(
    iteration: Iteration,
    policy: number,
    own: readonly ReportedStep[],
    reported: ArrayLike<number>,
  ): ValueRows[] | null {
    const { samples, replays } = iteration;
    const [value, target, weight] = [replays!.column('value'), replays!.column('return'), replays!.column('weight')];
    const stored = samples?.column('value');
    if (!value || !target || !stored) return null;
    const [sample, of] = [replays!.column('sample')!, replays!.column('policy')];
    const straight = (name: 'value' | 'return', rows?: Int32Array) => {
      const line = lineOf(iteration, policy, name, rows)?.line;
      return line && onOneLine(line) === 'right' ? line : null;
    };
    const critic = straight('value');
    if (!critic) return null;
    const targets = straight('return', iteration.pass(0)) ?? critic;
    const found = new Map(
      thinned(own, budgets.formulaSteps).map(({ row, stat }): [number, ValueRows] => [
        keyOf(stat),
        { told: reported[row], value: [], target: [], weight: [], old: { critic: [], targets: [], rewards: [] } },
      ]),
    );
    const [epoch, minibatch] = [replays!.column('epoch')!, replays!.column('minibatch')!];
    for (let i = 0; i < replays!.rows; i++) {
      const step = found.get(stepKey(epoch[i], minibatch[i], of ? of[i] : 0));
      if (!step) continue;
      const old = iteration.own[i] === 1 ? stored[sample[i]] : Number.NaN;
      step.value.push(value[i]);
      step.target.push(target[i]);
      step.weight.push(weight && !Number.isNaN(weight[i]) ? weight[i] : 1);
      step.old.rewards.push(old);
      step.old.critic.push(critic.slope * old + critic.intercept);
      step.old.targets.push(targets.slope * old + targets.intercept);
    }
    return [...found.values()];
  }

  finish(): Outcome {
    for (const [policy, own] of this.single) {
      if (own.length < limits.fewestSteps.value) continue;
      const rows = this.besidePairs(policy, own);
      if (rows && rows.varies >= valueFormula.value) continue;
      this.steps += own.length;
      if (rows) this.right++;
    }
    const found = [...this.wrong.values()].sort((a, b) => b.updates - a.updates);
    const wrong = found.reduce((sum, { updates }) => sum + updates, 0);
    const measured = { steps: this.steps, updates: this.right + this.other + wrong, other: this.other, wrong };
    const expected = { wrong: 0 };
    const evidence = [{ check: 'value-loss', measured, expected }];
    const findings = found
      .filter(
        ({ transform, updates, steps }) =>
          updates >= limits.broadcastShare.value * (measured.updates - updates) &&
          (transform === pairsOfValues ||
            (steps >= 2 * limits.fewestSteps.value && updates >= formulaExact.value * (wrong + this.other))),
      )
      .map(
        ({ cause, transform, updates, rows, onset, policies, proof }): Finding => ({
          cause,
          confidence: confidence(1, updates * limits.perUpdate.value),
          agents: [...policies].flatMap((policy) => this.run.agentsOf(policy)),
          onset,
          rows,
          transform,
          ...(transform === sumOfValues ? { reading: 'value_loss' } : {}),
          ...proof.prove(
            'value loss',
            'as reported',
            transform === pairsOfValues || transform === sumOfValues ? 'mean over the rows' : 'as it is meant',
            transform,
          ),
          told: true,
          summary: told(
            `In ${updates} updates the value loss is made of: ${transform.describe()}.`,
            `在 ${updates} 次更新中，价值损失由此算出：${transform.describe()}。`,
          ),
          evidence,
        }),
      );
    const unknown = this.other > this.right + wrong;
    // Who declares the formula is owed its number.
    const { updates, rows, onset } = this.strange;
    if (
      findings.length === 0 &&
      unknown &&
      updates === this.other &&
      (this.searching.clips || this.run.number('huber_delta') > 0)
    ) {
      const open = { rows, onset, share: this.other / measured.updates, agents: [] };
      return { status: 'fail', measured, expected, findings, open };
    }
    if (findings.length === 0 && (measured.updates === 0 || unknown))
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: unknown
          ? told('the value loss follows none of the formulas that are known', '价值损失不符合任何已知的公式')
          : told('no update has steps enough to tell formulas apart', '没有哪次更新的步数足以区分公式'),
      };
    return { status: findings.length > 0 ? 'fail' : 'pass', measured, expected, findings: merge(findings) };
  }
}
