/** Advantages recomputed from rewards, values and ends, against those that the trainer computed. */

import { told } from '../../../language/language.ts';
import type { EndRule } from '../../../math/advantages.ts';
import { budgets } from '../../budgets.ts';
import { type Check, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { conventionRemark } from '../../conventions.ts';
import { type CreditRule, creditGrain, creditSlack, findCreditRule } from '../../credit-rule.ts';
import { type Finding, figure, leaving, type Outcome, percent, type Remark } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Folded } from '../../evidence/rewards/folded-rewards.ts';
import { gather } from '../../evidence/rows.ts';
import type { Run } from '../../evidence/run.ts';
import { foundBy } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Cover, type Hypothesis, type Trial, trialOf } from '../../pairing/cover.ts';
import { Composed } from '../../transforms/composed.ts';
import { AffineValues } from '../../transforms/credit/affine-values.ts';
import { Constant } from '../../transforms/credit/constant.ts';
import type { CreditRows, CreditTransform } from '../../transforms/credit/credit-rows.ts';
import { CutFormula } from '../../transforms/credit/cut-formula.ts';
import { EarlierIteration } from '../../transforms/credit/earlier-iteration.ts';
import { Ends, misreadings } from '../../transforms/credit/ends.ts';
import { EndsByKind, LimitsCross } from '../../transforms/credit/ends-by-kind.ts';
import { EndsFound } from '../../transforms/credit/ends-found.ts';
import { Formula } from '../../transforms/credit/formula.ts';
import { GroupMean } from '../../transforms/credit/group-mean.ts';
import { Lag, lags, nearLags } from '../../transforms/credit/lag.ts';
import { OtherAgent } from '../../transforms/credit/other-agent.ts';
import { Permutation } from '../../transforms/credit/permutation.ts';
import { RewardLag } from '../../transforms/credit/reward-lag.ts';
import { Sign } from '../../transforms/credit/sign.ts';
import { TeamMean } from '../../transforms/credit/team-mean.ts';
import { ValueBeside } from '../../transforms/credit/value-beside.ts';
import { Beginnings } from './beginnings.ts';

const endCauses: Readonly<Record<EndRule, string>> = {
  asRecorded: '',
  truncationTerminates: 'truncation-treated-as-termination',
  cutTerminates: 'truncation-treated-as-termination',
  allTerminate: 'truncation-treated-as-termination',
  lateWithin: 'done-time-shifted',
  earlyWithin: 'done-time-shifted',
  late: 'done-time-shifted',
  early: 'done-time-shifted',
  ignored: 'return-crosses-episodes',
  carryIgnored: 'return-crosses-episodes',
  valueIgnored: 'return-crosses-episodes',
  lastIgnored: 'return-crosses-episodes',
  terminationBootstraps: 'return-crosses-episodes',
  lateAlike: 'done-time-shifted',
  earlyAlike: 'done-time-shifted',
  lateBeside: 'done-time-shifted',
  earlyBeside: 'done-time-shifted',
  ignoredBeside: 'return-crosses-episodes',
  valueIgnoredBeside: 'return-crosses-episodes',
  ignoredAfterOwn: 'return-crosses-episodes',
  carryEarly: 'done-time-shifted',
  carryLate: 'done-time-shifted',
};

export const endRules = misreadings.map((rule) => ({ cause: endCauses[rule], transform: new Ends(rule) }));

interface CreditHypothesis extends Hypothesis {
  transform: CreditTransform;
}

const singles: readonly CreditHypothesis[] = [
  // What the rows' own numbers show comes before a moved end, which at an end that nobody recorded explains whatever is there.
  { cause: 'return-crosses-episodes', transform: new EndsFound() },
  { cause: 'final-observation-lost', transform: new LimitsCross() },
  ...endRules,
  { cause: 'return-crosses-episodes', transform: new EndsByKind() },
  ...(['episode', 'stream'] as const).flatMap((within) =>
    nearLags.map((lag) => ({ cause: 'reward-time-shifted', transform: new RewardLag(lag, within) })),
  ),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'episode') })),
  ...lags.map((lag) => ({ cause: 'advantage-time-shifted', transform: new Lag(lag, 'stream') })),
  { cause: 'advantage-agent-swapped', transform: new OtherAgent() },
  { cause: 'advantage-sign-flipped', transform: new Sign() },
  { cause: 'return-inconsistent', transform: new EarlierIteration() },
  { cause: 'value-scale-mismatch', transform: new AffineValues() },
  { cause: 'value-scale-mismatch', transform: new ValueBeside() },
  { cause: 'advantage-group-demeaned', transform: new TeamMean('less') },
  { cause: 'credit-formula-differs', transform: new TeamMean('instead') },
  { cause: 'advantage-group-demeaned', transform: new GroupMean('action') },
  { cause: 'advantage-group-demeaned', transform: new GroupMean('place') },
  { cause: 'advantage-group-demeaned', transform: new GroupMean('group') },
  { cause: 'advantage-degenerate', transform: new Constant() },
  { cause: 'advantage-shuffled', transform: new Permutation() },
  { cause: 'credit-crosses-agents', transform: new Formula('storage') },
  { cause: 'credit-crosses-agents', transform: new Formula('environment') },
  { cause: 'credit-formula-differs', transform: new Formula('episode') },
  { cause: 'credit-formula-differs', transform: new CutFormula() },
];

/** Two faults at once, tried where no single one explains the rows. */
const pairs: readonly CreditHypothesis[] = [
  ...singles
    .filter(({ transform }) => ['lag', 'other-agent', 'ends', 'reward-lag'].includes(transform.id))
    .map(({ cause, transform }) => ({
      cause,
      beside: 'advantage-sign-flipped',
      transform: new Composed([transform, new Sign()]),
    })),
  ...endRules.flatMap(({ cause, transform }) =>
    ([-1, 1] as const).map((lag) => ({
      cause,
      beside: 'advantage-time-shifted',
      transform: new Composed([transform, new Lag(lag, 'episode')]),
    })),
  ),
];
const hypotheses = [...singles, ...pairs];

export const credit: Check = {
  id: 'credit',
  group: 'credit',
  question: ['Are advantages what rewards, values and ends give?', '优势与奖励、价值和终止算出的一致吗？'],
  needs: [['samples.reward'], ['samples.value'], ['samples.terminated'], ['samples.advantage']],
  causes: [...new Set(hypotheses.map(({ cause }) => cause))],
  start: (run) => new CreditPass(run),
};

class CreditPass implements Pass {
  private looked = 0;
  private disagreeing = 0;
  private noticed = 0;
  private rule: CreditRule | null = null;
  private earlier: Float64Array | null = null;
  private searched = 0;
  private narrow = false;
  private folded: Folded['added'] | null = null;
  private limited = 0;
  private readonly cover = new Cover(hypotheses);
  private readonly beginnings = new Beginnings();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const recorded = iteration.samples?.column('advantage');
    if (!recorded || !iteration.credit) return;
    if (!this.rule) this.rule = findCreditRule(this.run, iteration, ['asRecorded', ...misreadings]);
    if (!this.rule) return;
    const truth = iteration.advantages('asRecorded', this.rule)!;
    const slack = creditSlack(iteration, truth, this.rule);
    this.folded ??= iteration.folded?.added ?? null;
    this.narrow ||= creditGrain(iteration) > 0;
    if (this.run.setting('truncation_bootstraps') === false)
      for (const flag of iteration.samples!.column('truncated') ?? []) if (flag === 1) this.limited++;
    // Nobody learns from the credit of a row that enters no loss: a step that only resets may be given none.
    const { leftOut } = iteration;
    const gap = new Float64Array(truth.length);
    let [known, off] = [0, 0];
    for (let i = 0; i < gap.length; i++) {
      gap[i] = leftOut && leftOut[i] === 1 ? Number.NaN : Math.abs(truth[i] - recorded[i]);
      if (!Number.isFinite(gap[i])) continue;
      known++;
      if (gap[i] > slack) off++;
    }
    this.looked += known;
    if (off > 0) this.compare(iteration, gap, truth, recorded, slack);
    this.earlier = truth;
  }

  /** Rows whose gap is too wide, agent by agent. */
  private compare(
    iteration: Iteration,
    gap: Float64Array,
    truth: Float64Array,
    recorded: ArrayLike<number>,
    slack: number,
  ): void {
    const agent = iteration.samples!.column('agent')!;
    const cells = new Map<number, { looked: number; wrong: number[] }>();
    for (let i = 0; i < gap.length; i++) {
      if (!Number.isFinite(gap[i])) continue;
      const cell = cells.get(agent[i]) ?? { looked: 0, wrong: [] };
      cells.set(agent[i], cell);
      cell.looked++;
      if (gap[i] > slack) cell.wrong.push(i);
    }
    const rows: number[] = [];
    for (const { looked, wrong } of cells.values()) {
      this.disagreeing += wrong.length;
      // Ends are rare, so a moved end may touch few rows; what is exact needs no large share.
      if (wrong.length >= Math.min(noticedShare * looked, fewestRows)) for (const row of wrong) rows.push(row);
    }
    this.noticed += rows.length;
    if (rows.length === 0 || this.searched >= budgets.searches) return;
    this.searched++;
    this.explain(iteration, rows, truth, recorded, slack);
  }

  private explain(
    iteration: Iteration,
    wrong: number[],
    truth: Float64Array,
    recorded: ArrayLike<number>,
    slack: number,
  ): void {
    const stride = Math.max(1, Math.ceil(wrong.length / budgets.creditRows));
    const rows = wrong.filter((_, i) => i % stride === 0);
    const { rule, earlier } = this;
    const context: CreditRows = { iteration, own: truth, target: recorded, wrong: rows, slack, rule, earlier };
    this.beginnings.add(context);
    const [target, before] = [gather(recorded, rows), gather(truth, rows)];
    const agent = iteration.samples!.column('agent')!;
    const agents = new Set(wrong.map((row) => agent[row]));
    const trial = ({ transform }: CreditHypothesis): Trial | null => {
      const fitted = transform.fit ? transform.fit(context) : transform;
      const vector = fitted?.apply(context);
      if (!fitted || !vector) return null;
      const found = trialOf({ target, before, after: gather(vector, rows) }, slack * (fitted.strictness ?? 1), fitted);
      const explained = found.match.filter((match) => match === 2).length * stride;
      return fitted.id.startsWith('ends') && against(context, fitted, vector, agents) > explained ? null : found;
    };
    const single = singles.map(trial);
    const explained = rows.filter((_, i) => single.some((one) => one?.match[i] === 2)).length;
    const both = pairs.map((pair) => (explained < limits.most.value * rows.length ? trial(pair) : null));
    this.cover.add(iteration.number, gather(iteration.samples!.column('agent')!, rows), [...single, ...both]);
  }

  private remarks(): Pick<Outcome, 'remarks'> {
    const { rule, narrow, limited, folded } = this;
    const remarks: Remark[] = [];
    if (folded) {
      const what = folded === 'value' ? 'the row itself, in place of what follows' : 'what follows';
      const summary = `Where a time limit cut an episode off, the reward holds the discounted value of ${what}.`;
      remarks.push(conventionRemark('bootstrap-in-reward', summary));
    }
    if (limited > 0) {
      const summary = `Nothing follows an episode that a time limit cut off, as the settings declare: ${limited} rows.`;
      remarks.push(conventionRemark('time-limit-ends', summary));
    }
    if (rule?.steps && !rule.declared) {
      const summary = `Advantages are returns of ${rule.steps} steps less the value, discounted by ${figure(rule.gamma)}; nothing is declared.`;
      remarks.push(conventionRemark('n-step-credit', summary));
    }
    if (narrow) {
      const summary = 'Rewards, values or advantages were recorded in half precision, and compared no finer than that.';
      remarks.push(conventionRemark('narrow-columns', summary));
    }
    return remarks.length > 0 ? { remarks } : {};
  }

  finish(): Outcome {
    const share = this.disagreeing / Math.max(1, this.looked);
    const measured = {
      rows: this.looked,
      disagreeing: this.disagreeing,
      share: figure(share),
      gamma: figure(this.rule?.gamma ?? Number.NaN),
      ...(this.rule?.steps ? { steps: this.rule.steps } : { lambda: figure(this.rule?.lambda ?? Number.NaN) }),
      as_declared: this.rule?.declared ?? false,
    };
    const expected = { share: 0 };
    if (this.looked === 0)
      return {
        status: 'not-checked',
        measured,
        expected,
        findings: [],
        note: told('no row has all it needs', '没有哪一行具备所需的全部内容'),
      };
    if (this.noticed < fewestRows)
      return {
        ...(this.disagreeing >= fewestRows
          ? { status: 'warn', open: leaving(this.disagreeing, this.looked) }
          : { status: 'pass' }),
        measured,
        expected,
        findings: [],
        ...this.remarks(),
      };
    const { found, open } = this.cover.explain();
    let rest = open;
    const findings: Finding[] = [];
    const wording = () => ({
      quantity: 'advantage',
      target: 'recorded advantage',
      before: 'recomputed for this row',
      summary: (fit: string) =>
        `${percent(share)} of the advantages are not what rewards, values and ends give; ${fit} of those agree with`,
      evidence: [{ check: 'credit', measured, expected }],
    });
    for (const explained of found)
      if (
        explained.share >= limits.explainedLeast.value &&
        explained.rows >= Math.max(fewestRows, limits.creditRows.value * this.cover.rows)
      )
        findings.push(...foundBy(explained, wording));
      else rest += explained.rows;
    const note =
      findings.length === 0 || open > limits.most.value * this.cover.rows
        ? (this.beginnings.note ??
          told('some advantages are reproduced by no transform that is known', '有些优势不是任何已知变换能还原的'))
        : undefined;
    const left = this.cover.left(rest, this.disagreeing, this.looked);
    const likely = left ? { ...left, ...this.beginnings.likely } : undefined;
    return {
      ...(findings.length > 0
        ? { status: 'fail', ...(likely ? { open: likely } : {}) }
        : { status: 'warn', open: likely ?? leaving(this.disagreeing, this.looked) }),
      measured,
      expected,
      findings,
      ...this.remarks(),
      ...(note ? { note } : {}),
    };
  }
}

/** Rows of the struck agents that are right as they are, and would not be if ends were misread like this. */
function against(
  { iteration, own, target, slack }: CreditRows,
  transform: CreditTransform,
  claimed: Float64Array,
  agents: ReadonlySet<number>,
): number {
  const agent = iteration.samples!.column('agent')!;
  const usual = iteration.flow('asRecorded')!.boot;
  const misread = transform instanceof Ends ? iteration.flow(transform.rule)!.boot : usual;
  let count = 0;
  for (let i = 0; i < own.length; i++) {
    if (!agents.has(agent[i]) || !(Math.abs(own[i] - target[i]) <= slack)) continue;
    // A bootstrap that nobody recorded would have to be the very one that the end gives.
    const impossible = Number.isNaN(misread[i]) && !Number.isNaN(usual[i]);
    if (impossible || Math.abs(claimed[i] - target[i]) > slack) count++;
  }
  return count;
}
