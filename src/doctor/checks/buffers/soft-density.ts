/** Is the next action drawn for the stored next observation, and its log-probability that of the squashed Gaussian it was drawn from? A constant is healthy (the scale of the actions), and so is any small number within the logarithm; actions at the bounds say nothing, because tanh has lost them. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { type Check, confidence, fewestRows, noticedShare, type Pass } from '../../check.ts';
import { type Finding, type Outcome, percent } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Lists } from '../../evidence/rows.ts';
import { ProofStore, proved } from '../../found.ts';
import { limits } from '../../limits.ts';
import { ScoredAs } from '../../transforms/continuous/scored-as.ts';

const check = 'soft-density';

export const softDensity: Check = {
  id: check,
  group: 'credit',
  question: [
    "Is the next action's log-probability that of the distribution it was drawn from?",
    '下一动作的对数概率是否属于它所用的分布？',
  ],
  needs: [['targets.next_logp'], ['targets.next_mean'], ['targets.next_log_std'], ['targets.next_action']],
  causes: ['squash-correction-wrong', 'dimensions-reduced-wrong', 'critic-context-misaligned'],
  of: 'targets',
  start: () => new SoftDensityPass(),
};

/** The Gaussian's part, the correction's part, and how many dimensions. */
interface Row {
  logp: number;
  gaussian: number;
  squash: number;
  width: number;
  iteration: number;
}

const usual = ({ gaussian, squash }: Row) => gaussian - squash;
const others: readonly (readonly [string, ConstructorParameters<typeof ScoredAs>[1], (row: Row) => number])[] = [
  ['squash-correction-wrong', { squash: 0 }, ({ gaussian }) => gaussian],
  ['squash-correction-wrong', { squash: 2 }, ({ gaussian, squash }) => gaussian - 2 * squash],
  ['dimensions-reduced-wrong', { reduce: 'mean' }, ({ gaussian, squash, width }) => (gaussian - squash) / width],
];

class SoftDensityPass implements Pass {
  private readonly rows: Row[] = [];
  /** Rows whose mean was asked for again, those that another observation gives, and both means of these. */
  private again = 0;
  private differing = 0;
  private onset = -1;
  private readonly means = new ProofStore();

  iteration({ targets, number }: Iteration): void {
    const logp = targets?.column('next_logp');
    const [mean, spread, action] = ['next_mean', 'next_log_std', 'next_action'].map((name) => targets?.list(name));
    if (!targets || !logp || !mean || !spread || !action) return;
    this.compare(number, mean, targets.list('next_mean_again'));
    for (let i = 0; i < targets.rows && this.rows.length < budgets.coverRows; i++) {
      const [from, width] = [action.offsets[i], action.offsets[i + 1] - action.offsets[i]];
      if (width < 1 || mean.offsets[i + 1] - mean.offsets[i] !== width) continue;
      const row: Row = { logp: logp[i], gaussian: 0, squash: 0, width, iteration: number };
      let inside = Number.isFinite(logp[i]);
      for (let d = 0; d < width; d++) {
        const y = action.values[from + d];
        if (!(Math.abs(y) < limits.insideTanh.value)) inside = false;
        const s = spread.values[spread.offsets[i] + d];
        const z = (Math.atanh(y) - mean.values[mean.offsets[i] + d]) / Math.exp(s);
        row.gaussian -= (z * z + Math.log(2 * Math.PI)) / 2 + s;
        row.squash += Math.log1p(-y * y);
      }
      if (inside) this.rows.push(row);
    }
  }

  private compare(iteration: number, mean: Lists, again: Lists | null): void {
    if (!again || again.values.length !== mean.values.length) return;
    const [shown, own]: [number[], number[]] = [[], []];
    for (let row = 0; row + 1 < mean.offsets.length; row++) {
      this.again++;
      let differs = false;
      for (let i = mean.offsets[row]; i < mean.offsets[row + 1]; i++) {
        if (Math.abs(mean.values[i] - again.values[i]) <= limits.targetExact.value * (1 + Math.abs(again.values[i])))
          continue;
        differs = true;
        shown.push(mean.values[i]);
        own.push(again.values[i]);
      }
      if (differs) this.differing++;
    }
    if (shown.length > 0 && this.onset < 0) this.onset = iteration;
    this.means.rows(iteration, Float64Array.from(shown), Float64Array.from(own));
  }

  private misdrawn(measured: Outcome['measured'], expected: Outcome['expected']): Outcome {
    const finding: Finding = {
      cause: 'critic-context-misaligned',
      confidence: confidence(1, this.differing),
      agents: [],
      onset: this.onset,
      rows: this.differing,
      ...this.means.prove('mean of the next action', 'as it was drawn from', 'of the stored next observation'),
      told: true,
      summary: told(
        `${percent(this.differing / this.again)} of the next actions were drawn for another observation than the stored next one: the actor gives other means for it.`,
        `下一动作中有 ${percent(this.differing / this.again)} 不是为所存的下一观测抽取的：策略网络对它给出的均值不同。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }

  finish(): Outcome {
    const { rows } = this;
    const measured: Outcome['measured'] = { rows: rows.length, other_observations: this.differing };
    const expected = { disagreeing: 0, other_observations: 0 };
    if (this.differing >= Math.max(fewestRows, noticedShare * this.again)) return this.misdrawn(measured, expected);
    if (rows.length < limits.decidingRows.value) return { status: 'not-checked', measured, expected, findings: [] };
    const own = agreeing(rows, usual);
    measured.disagreeing = rows.length - own.count;
    if (own.count >= limits.formShare.value * rows.length) return { status: 'pass', measured, expected, findings: [] };
    const found = others.find(([, , form]) => agreeing(rows, form).count >= limits.formShare.value * rows.length);
    // What else it may be (noise of another kind, another squashing) is not known here.
    if (!found) return { status: 'pass', measured, expected, findings: [] };
    const [cause, parts, form] = found;
    const transform = new ScoredAs('both', parts);
    const { constant } = agreeing(rows, form);
    const few = rows.slice(0, budgets.fitRows);
    const finding: Finding = {
      cause,
      confidence: confidence(1, rows.length),
      agents: [],
      onset: rows[0].iteration,
      rows: rows.length - own.count,
      transform,
      ...proved({
        quantity: 'log-probability of the next action',
        labels: { target: 'as used', before: 'of the squashed Gaussian', after: transform.describe() },
        iteration: rows[0].iteration,
        point: 'row',
        target: Float64Array.from(few, ({ logp }) => logp),
        before: Float64Array.from(few, usual),
        after: Float64Array.from(few, (row) => form(row) + constant),
      }),
      told: true,
      summary: told(
        `${percent(1 - own.count / rows.length)} of the next actions' log-probabilities are not those of the squashed Gaussian that they were drawn from; they are with: ${transform.describe()}.`,
        `下一动作的对数概率中有 ${percent(1 - own.count / rows.length)} 不属于其所用的压缩高斯分布；按此则相符：${transform.describe()}。`,
      ),
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }
}

/** Rows that a form gives up to one constant, and the constant. */
function agreeing(rows: readonly Row[], form: (row: Row) => number): { count: number; constant: number } {
  const gaps = rows.map((row) => row.logp - form(row));
  const constant = [...gaps].sort((a, b) => a - b)[gaps.length >> 1];
  return { count: gaps.filter((gap) => Math.abs(gap - constant) <= limits.softDensity.value).length, constant };
}
