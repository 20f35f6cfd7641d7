/** Losses recomputed from their rows against the reported ones: summed, negated, or made of all pairs, each leaves its own number. */
import { told } from '../../../../language/language.ts';
import { type Check, confidence, type Pass } from '../../../check.ts';
import { conventionRemark } from '../../../conventions.ts';
import { type Finding, figure, type Outcome, type Remark } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import { listOf } from '../../../evidence/keys.ts';
import type { Run } from '../../../evidence/run.ts';
import { reportedSteps, unmasked } from '../../../evidence/steps/reported-steps.ts';
import { declaredParts, pairsWithin } from '../../../evidence/steps/slices.ts';
import { keyOf } from '../../../evidence/steps/step-key.ts';
import type { StepStat } from '../../../evidence/steps/step-stats.ts';
import { merge, ProofStore } from '../../../found.ts';
import { limits } from '../../../limits.ts';
import { LossIs } from '../../../transforms/loss/loss-is.ts';
import { FormulaWitness } from './formula-witness.ts';
import { SmoothedLoss } from './smoothed-loss.ts';

export const loss: Check = {
  id: 'loss',
  group: 'gradient',
  question: ['Is the policy loss what its rows give?', '策略损失与其数据行算出的一致吗？'],
  needs: [['steps.policy_loss'], ['replays.new_logp'], ['replays.advantage']],
  causes: [
    'loss-summed',
    'broadcast-mismatch',
    'advantage-sign-flipped',
    'padding-trained',
    'loss-formula-differs',
    'metric-misreported',
  ],
  start: (run) => new LossPass(run),
};

type Formula = 'mean' | 'unclipped' | 'plain' | 'sum' | 'outer' | 'negated' | 'unmasked' | 'other';
const causes: Partial<Record<Formula, [string, LossIs]>> = {
  sum: ['loss-summed', new LossIs('sum', 'policy')],
  outer: ['broadcast-mismatch', new LossIs('all-pairs', 'policy')],
  negated: ['advantage-sign-flipped', new LossIs('negated', 'policy')],
  unmasked: ['padding-trained', new LossIs('unmasked', 'policy')],
};

/** What a formula gives for a step, whose rows without weight count in `all`. */
function given(formula: Formula, { loss, unclippedLoss, outerLoss, weight }: StepStat, all?: StepStat): number {
  if (formula === 'sum') return weight * loss;
  if (formula === 'outer') return all?.outerLoss ?? outerLoss;
  if (formula === 'unmasked') return all?.loss ?? Number.NaN;
  if (formula === 'negated') return -loss;
  return formula === 'mean' ? loss : formula === 'unclipped' ? unclippedLoss : Number.NaN;
}

const close = (reported: number, value: number, slack: number) =>
  Math.abs(reported - value) <= limits.lossRelative.value * Math.abs(value) + slack;

/** What rounding adds to a loss without a ratio. */
const plainNoise = ({ noise, largestLogp }: StepStat) => noise * Math.max(1, largestLogp);

/** Whether every batch is passed over once. */
const onePass = ({ replays }: Iteration) => !replays!.column('epoch')!.some((epoch) => epoch > 0);

interface Count {
  count: number;
  onset: number;
  rows: number;
  policies: Set<number>;
  measured: number;
  expected: number;
  proof: ProofStore;
}

class LossPass implements Pass {
  private readonly policies = new Map<number, Map<Formula, Count>>();
  /** By policy, the iteration of every step that was looked at. */
  private readonly when = new Map<number, number[]>();
  private steps = 0;
  /** By policy, steps that the clip shows in and whose loss has it. */
  private readonly clipped = new Map<number, number>();
  /** By policy, whether losses before the first step are given to rounding. */
  private readonly exact = new Map<number, boolean>();
  private readonly witness: FormulaWitness;
  private readonly smoothed = new Map<number, SmoothedLoss>();
  private within: { of: Iteration; losses: Map<number, number> } | null = null;
  constructor(private readonly run: Run) {
    this.witness = new FormulaWitness(run);
  }

  iteration(iteration: Iteration): void {
    if (iteration.probed) return;
    const reported = iteration.steps?.column('policy_loss');
    const steps = reportedSteps(iteration);
    const judged = steps.flatMap(({ row, stat: clipped }) => {
      if (
        !reported ||
        !Number.isFinite(reported[row]) ||
        !Number.isFinite(clipped.loss) ||
        clipped.rows < limits.fewestSteps.value
      )
        return [];
      const { formula, stat } = this.judge(iteration, reported[row], clipped);
      this.calibrate(iteration, reported[row], stat);
      const fits = formula === 'mean' || formula === 'plain' || formula === null;
      const slack = this.slack(stat);
      // A loss that is exact before the first step must be so after it, too.
      const usual = fits && (formula !== 'mean' || this.isMean(iteration, reported[row], stat, slack));
      return [{ row, stat, formula, usual, slack }];
    });
    const told = judged.filter(({ formula, usual }) => usual || (formula !== 'sum' && formula !== 'unmasked'));
    // A clip that follows a schedule is the declared one only in the beginning.
    const scheduled = reported !== null && reported !== undefined && this.witness.see(iteration, reported, told);
    for (const { row, stat, formula: found, slack } of judged) {
      const formula = scheduled && found === 'other' ? 'mean' : found;
      if (!reported || !formula) continue;
      this.steps++;
      const counts = this.policies.get(stat.policy) ?? new Map<Formula, Count>();
      this.policies.set(stat.policy, counts);
      listOf(this.when, stat.policy).push(iteration.number);
      const own = counts.get(formula) ?? {
        count: 0,
        onset: Number.POSITIVE_INFINITY,
        rows: 0,
        policies: new Set(),
        measured: 0,
        expected: 0,
        proof: new ProofStore(),
      };
      counts.set(formula, own);
      own.count++;
      const smoothed = this.smoothed.get(stat.policy) ?? new SmoothedLoss();
      this.smoothed.set(stat.policy, smoothed);
      smoothed.add({ iteration: iteration.number, reported: reported[row], given: stat.loss, slack });
      const declared = !scheduled && !iteration.clips.has(stat.policy);
      if (formula === 'mean' && declared && !close(reported[row], stat.unclippedLoss, stat.noise))
        this.clipped.set(stat.policy, (this.clipped.get(stat.policy) ?? 0) + 1);
      own.rows += stat.rows;
      own.onset = Math.min(own.onset, iteration.number);
      own.policies.add(stat.policy);
      own.measured = reported[row];
      own.expected = stat.loss;
      own.proof.step(reported[row], stat.loss, given(formula, stat, unmasked(iteration, stat)));
    }
  }

  /** Before the first step every ratio is 1 and all formulas agree, so what is reported there shows how many of its digits are kept. */
  private calibrate(iteration: Iteration, reported: number, stat: StepStat): void {
    if (!stat.before) return;
    const exact = this.isMean(iteration, reported, stat, stat.noise);
    this.exact.set(stat.policy, exact && this.exact.get(stat.policy) !== false);
  }

  private slack(stat: StepStat): number {
    const scale = this.run.text('loss_reduction') === 'sum' ? stat.weight : 1;
    const digits = this.exact.get(stat.policy) ? 0 : limits.lossRelative.value * Math.abs(stat.loss);
    return scale * (digits + stat.noise);
  }

  private isMean(iteration: Iteration, reported: number, stat: StepStat, slack: number): boolean {
    const scale = this.run.text('loss_reduction') === 'sum' ? stat.weight : 1;
    const fits = (loss: number) => Math.abs(reported - scale * loss) <= slack;
    // Halves are added up for those few runs whose steps are not means of their rows.
    return fits(stat.loss) || fits(iteration.halves.get(keyOf(stat))?.loss ?? Number.NaN);
  }

  /** Losses of all pairs within the parts that gradients are gathered over; asked only where no formula gives a step. */
  private pairs(iteration: Iteration): Map<number, number> {
    if (this.within?.of !== iteration)
      this.within = { of: iteration, losses: pairsWithin(iteration, declaredParts(this.run)) };
    return this.within.losses;
  }

  /** Where no formula with a ratio gives it: the sum or the opposite of the one without, told beside that one's mean. */
  private judge(iteration: Iteration, reported: number, stat: StepStat): { formula: Formula | null; stat: StepStat } {
    const formula = this.formula(iteration, reported, stat);
    if (formula === 'other' && declaredParts(this.run) > 1) {
      const outerLoss = this.pairs(iteration).get(keyOf(stat)) ?? Number.NaN;
      if (close(reported, outerLoss, stat.noise)) return { formula: 'outer', stat: { ...stat, outerLoss } };
    }
    if (formula !== 'other' || !onePass(iteration)) return { formula, stat };
    const plain = { ...stat, loss: stat.plainLoss };
    const noise = plainNoise(stat);
    if (close(reported, given('sum', plain), noise * Math.sqrt(stat.rows))) return { formula: 'sum', stat: plain };
    return close(reported, given('negated', plain), noise) ? { formula: 'negated', stat: plain } : { formula, stat };
  }

  /** Which formula gives the reported number; null where several do and the step tells nothing. */
  private formula(iteration: Iteration, reported: number, stat: StepStat): Formula | null {
    const { noise } = stat;
    const fits = (value: number, slack = noise) => close(reported, value, slack);
    const healthy = fits(stat.loss) ? 'mean' : fits(stat.unclippedLoss) ? 'unclipped' : null;
    const wrong: Formula[] = [];
    if (fits(-stat.loss) || fits(-stat.unclippedLoss)) wrong.push('negated');
    const summed = fits(stat.weight * stat.loss, noise * Math.sqrt(stat.rows)) && stat.rows > 1;
    // Who declares a sum has chosen the step size for it.
    if (summed && this.run.text('loss_reduction') === 'sum') return 'mean';
    if (summed) wrong.push('sum');
    if (fits(stat.outerLoss)) wrong.push('outer');
    if (healthy && wrong.length === 0) return healthy;
    if (healthy) return null;
    const half = iteration.halves.get(keyOf(stat));
    const custom =
      half && (fits(half.loss) || fits(half.unclippedLoss)) ? 'mean' : this.plain(iteration, stat, half, fits);
    if (custom) return wrong.length > 0 ? null : custom;
    const all = unmasked(iteration, stat);
    if (!all) return wrong[0] ?? 'other';
    // The mask may be multiplied in and the sum divided by all rows: a constant that the rate takes up.
    const masked = (stat.loss * stat.weight) / all.weight;
    if (fits(masked)) return wrong.length > 0 ? null : 'mean';
    if (fits(all.outerLoss)) return 'outer';
    if (fits(all.loss)) return wrong.length > 0 ? null : 'unmasked';
    return wrong[0] ?? 'other';
  }

  /** Without a ratio a loss is right where every batch is passed over once, as in A2C. */
  private plain(
    iteration: Iteration,
    stat: StepStat,
    half: StepStat | undefined,
    fits: (value: number, slack: number) => boolean,
  ): 'plain' | null {
    if (!onePass(iteration)) return null;
    const summed = this.run.text('loss_reduction') === 'sum';
    const noise = plainNoise(stat);
    const given = [summed ? stat.plainLoss * stat.weight : stat.plainLoss, ...(half ? [half.plainLoss] : [])];
    return given.some((value) => fits(value, noise * (summed ? Math.sqrt(stat.rows) : 1))) ? 'plain' : null;
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = { steps: this.steps };
    const expected = { mean: this.steps };
    const evidence = [{ check: 'loss', measured, expected }];
    const findings: Finding[] = [];
    for (const [policy, counts] of this.policies) {
      for (const [formula, { count }] of counts) measured[`policy ${policy}: ${formula}`] = count;
      findings.push(...this.policy(policy, counts, this.when.get(policy)!, evidence));
    }
    const formulas = this.witness.findings(evidence, this.clipped);
    if (formulas.length > 0) {
      findings.splice(0, findings.length, ...findings.filter(({ cause }) => cause !== 'metric-misreported'));
      findings.push(...formulas);
    }
    if (this.steps === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no step tells the formulas apart', '没有哪一步能区分这些公式'),
      };
    // What no formula gives was not found right, though nothing declared makes it wrong.
    const odd = [...this.policies].some(([policy, counts]) => this.isOdd(policy, counts));
    if (findings.length === 0 && odd)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings,
        note: told('no formula that is known gives the reported policy loss', '没有已知的公式能给出所报告的策略损失'),
      };
    const status = findings.length > 0 ? 'fail' : 'pass';
    return { status, measured, expected, findings: merge(findings), ...this.remarks() };
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    const remarks: Remark[] = [];
    if (this.witness.high !== null)
      remarks.push(
        conventionRemark(
          'clip-higher',
          `Ratios are clipped at 1 + ${figure(this.witness.high)} above, farther from 1 than the declared clip below.`,
        ),
      );
    const summary =
      'The policy loss is the log-probability times the advantage, without a ratio to the old one, and every batch is passed over once.';
    if ([...this.policies.values()].some((counts) => (counts.get('plain')?.count ?? 0) > 2))
      remarks.push(conventionRemark('objective-without-ratio', summary));
    return remarks.length > 0 ? { remarks } : {};
  }

  /** Steps that no single formula accounts for: one that has the clip here and none there is no formula either. */
  private off(policy: number, counts: Map<Formula, Count>): number {
    const unclipped = Math.min(counts.get('unclipped')?.count ?? 0, this.clipped.get(policy) ?? 0);
    return (counts.get('other')?.count ?? 0) + unclipped;
  }

  /** Whether too many are. Where losses are exact before the first step, fewer are enough. */
  private isOdd(policy: number, counts: Map<Formula, Count>): boolean {
    const off = this.off(policy, counts);
    const share = this.exact.get(policy) ? limits.metricShare.value : limits.most.value;
    return off >= limits.fewestSteps.value && off > share * this.when.get(policy)!.length;
  }

  private policy(
    policy: number,
    counts: Map<Formula, Count>,
    when: readonly number[],
    evidence: Finding['evidence'],
  ): Finding[] {
    const findings: Finding[] = [];
    for (const formula of ['sum', 'outer', 'negated', 'unmasked'] as const) {
      const own = counts.get(formula);
      if (!own || own.count < limits.fitRows.value) continue;
      // Steps before a late onset tell nothing against what came later; right ones after it do.
      const since = when.filter((iteration) => iteration >= own.onset).length;
      if (own.count < limits.steadily.value * since) continue;
      const [cause, transform] = causes[formula]!;
      findings.push({
        cause,
        confidence: confidence(own.count / since, own.count * limits.perStep.value),
        agents: [...own.policies].flatMap((policy) => this.run.agentsOf(policy)),
        onset: own.onset,
        rows: own.rows,
        transform,
        ...own.proof.prove('policy loss', 'as reported', 'mean over the rows', transform),
        summary: `The reported policy loss is ${figure(own.measured)} where the mean over its rows gives ${figure(own.expected)}; on ${own.count} steps it agrees with: ${transform.describe()}.`,
        evidence,
      });
    }
    const other = counts.get('other') ?? counts.get('unclipped');
    const running = findings.length === 0 && this.isOdd(policy, counts) ? this.smoothed.get(policy)!.find() : null;
    if (other && running)
      return [
        {
          cause: 'metric-misreported',
          reading: 'running mean',
          confidence: confidence(1, running.steps * limits.perStep.value),
          agents: this.run.agentsOf(policy),
          onset: other.onset,
          rows: other.rows,
          transform: running.transform,
          ...running.proof.prove('policy loss', 'as reported', 'mean over the rows', running.transform),
          summary: `The reported policy loss (${figure(other.measured)}, where the rows of its step give ${figure(other.expected)}) is, on ${running.steps} steps, a ${running.transform.describe()}.`,
          evidence,
        },
      ];
    if (findings.length === 0 && other && this.isOdd(policy, counts) && this.run.declares('clip'))
      findings.push({
        cause: 'metric-misreported',
        reading: 'policy_loss',
        // No formula that is known gives it, so this is a candidate and no cause.
        confidence: limits.candidate.value,
        agents: [...other.policies].flatMap((policy) => this.run.agentsOf(policy)),
        onset: other.onset,
        rows: other.rows,
        ...other.proof.prove('policy loss', 'as reported', 'mean over the rows'),
        summary: `The reported policy loss (${figure(other.measured)}) is not what the rows give (${figure(other.expected)}).`,
        evidence,
      });
    return findings;
  }
}
