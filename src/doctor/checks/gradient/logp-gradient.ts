/** Does the loss raise a log-probability by its advantage? Read off the derivative of the loss by each log-probability, whatever actions are drawn from: minus the advantage, times the ratio where the clip does not act, over the number of rows. Terms of the loss that treat all rows alike add a constant. */
import { told } from '../../../language/language.ts';
import { solve } from '../../../math/linear.ts';
import { type Check, confidence, fewestRows, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { stepKey } from '../../evidence/steps/step-key.ts';
import { ProofStore } from '../../found.ts';
import { limits } from '../../limits.ts';
import { Sign } from '../../transforms/credit/sign.ts';
import {
  type LossFormName,
  LossFormula,
  type LossRow,
  lossForm,
  lossFormNames,
} from '../../transforms/loss/loss-formula.ts';
import { LossIs } from '../../transforms/loss/loss-is.ts';

const check = 'logp-gradient';

export const logpGradient: Check = {
  id: check,
  group: 'gradient',
  question: ['Does the loss raise every log-probability by its advantage?', '损失是否按优势提高每个对数概率？'],
  needs: [['replays.coef'], ['replays.advantage'], ['replays.new_logp']],
  causes: ['advantage-sign-flipped', 'policy-detached', 'loss-summed', 'loss-formula-differs'],
  start: (run) => new LogpGradientPass(run),
};

/** `formula`: none of these, and one of the known formulas gives it. */
type Kind = 'own' | 'summed' | 'away' | 'none' | 'unclipped' | 'formula' | 'other';

/** One row of a step, with its weight and the derivative. */
interface Row extends LossRow {
  weight: number;
  coef: number;
}

class LogpGradientPass implements Pass {
  private readonly kinds: Record<Kind, number> = {
    own: 0,
    summed: 0,
    away: 0,
    none: 0,
    unclipped: 0,
    formula: 0,
    other: 0,
  };
  /** Steps by the formula that gives them. */
  private readonly forms = new Map<LossFormName, number>();
  private steps = 0;
  private rows = 0;
  private readonly onset = new Map<Kind, number>();
  private readonly proofs = new Map<Kind, ProofStore>();

  constructor(private readonly run: Run) {}

  iteration(iteration: Iteration): void {
    const { replays, samples, own } = iteration;
    const [coef, advantage, used, weight, policy] = ['coef', 'advantage', 'old_logp', 'weight', 'policy'].map((name) =>
      replays?.column(name),
    );
    if (!replays || !samples || !coef || !advantage || iteration.probed) return;
    const [fresh, stored] = [replays.measured('new_logp')!, samples.measured('old_logp')!];
    const [sample, epoch, minibatch] = ['sample', 'epoch', 'minibatch'].map((name) => replays.column(name)!);
    const declared = this.run.number('clip');
    const steps = new Map<number, Row[]>();
    for (let i = 0; i < replays.rows; i++) {
      if (own[i] === 0 || !Number.isFinite(coef[i]) || !Number.isFinite(advantage[i])) continue;
      const key = stepKey(epoch[i], minibatch[i], policy ? policy[i] : 0);
      const list = steps.get(key) ?? [];
      if (list.length === 0) steps.set(key, list);
      const old = used && !Number.isNaN(used[i]) ? used[i] : stored[sample[i]];
      // Without a clip there is no ratio: the loss is of the log-probability itself.
      const ratio = Number.isNaN(declared) ? 1 : Math.exp(fresh[i] - old);
      list.push({
        advantage: advantage[i],
        log: Math.log(ratio),
        ratio,
        probability: Math.exp(fresh[i]),
        oldProbability: Math.exp(old),
        weight: weight ? weight[i] : 1,
        coef: coef[i],
      });
    }
    for (const [key, rows] of steps)
      this.step(iteration.number, rows, Number.isNaN(declared) ? declared : iteration.clipOf(key));
  }

  private step(iteration: number, rows: readonly Row[], clip: number): void {
    if (rows.length < fewestRows || !rows.every(({ ratio }) => Number.isFinite(ratio))) return;
    const first = rows[0].advantage;
    if (rows.every(({ advantage }) => Math.abs(advantage - first) <= limits.rounding.value)) return;
    const { kind, after, form } = kindOf(rows, clip);
    if (!kind) return;
    if (form) this.forms.set(form, (this.forms.get(form) ?? 0) + 1);
    this.steps++;
    this.rows += rows.length;
    this.kinds[kind]++;
    if (kind === 'own') return;
    if (!this.onset.has(kind)) this.onset.set(kind, iteration);
    const store = this.proofs.get(kind) ?? new ProofStore();
    this.proofs.set(kind, store);
    const right = shape(rows, clip).map((value) => value / rows.length);
    store.rows(
      iteration,
      Float64Array.from(rows, ({ coef }) => coef),
      Float64Array.from(right),
      Float64Array.from(after ?? right.map(() => Number.NaN)),
    );
  }

  finish(): Outcome {
    const { kinds, steps } = this;
    const measured: Outcome['measured'] = { rows: this.rows, steps, ...kinds };
    const expected = { summed: 0, away: 0, none: 0, unclipped: 0, formula: 0, other: 0 };
    if (steps === 0) return { status: 'not-checked', measured, expected, findings: [] };
    const [kind, count] = (Object.entries(kinds) as [Kind, number][])
      .filter(([name]) => name !== 'own')
      .reduce((best, entry) => (entry[1] > best[1] ? entry : best));
    if (count < Math.max(fewestRows, limits.most.value * steps))
      return { status: 'pass', measured, expected, findings: [] };
    const onset = this.onset.get(kind) ?? 0;
    if (kind === 'other') {
      const open = { rows: Math.round((this.rows * count) / steps), share: count / steps, onset, agents: [] };
      return { status: 'fail', measured, expected, findings: [], open };
    }
    const { cause, transform, summary } = this.told(kind, count);
    const finding: Finding = {
      cause,
      confidence: confidence(1, count * limits.perStep.value),
      agents: [],
      onset,
      rows: count,
      ...(transform ? { transform } : {}),
      ...this.proofs
        .get(kind)
        ?.prove('derivative of the loss by a log-probability', 'as it was', 'by the advantages', transform),
      told: true,
      summary,
      evidence: [{ check, measured, expected }],
    };
    return { status: 'fail', measured, expected, findings: [finding] };
  }

  private told(kind: Kind, count: number): Pick<Finding, 'cause' | 'transform' | 'summary'> {
    const { steps } = this;
    if (kind === 'away')
      return {
        cause: 'advantage-sign-flipped',
        transform: new Sign(),
        summary: told(
          `In ${count} of ${steps} steps the loss lowers log-probabilities by their advantages, where it should raise them.`,
          `${steps} 步中有 ${count} 步，损失按优势降低对数概率，而它本应提高它们。`,
        ),
      };
    if (kind === 'none')
      return {
        cause: 'policy-detached',
        summary: told(
          `In ${count} of ${steps} steps the loss does not change with any log-probability, although their advantages differ: no policy gradient flows.`,
          `${steps} 步中有 ${count} 步，损失不随任何对数概率变化，尽管优势各不相同：没有策略梯度。`,
        ),
      };
    if (kind === 'summed')
      return {
        cause: 'loss-summed',
        transform: new LossIs('sum', 'policy'),
        summary: told(
          `In ${count} of ${steps} steps the loss changes by a whole advantage with each log-probability, whatever the ${figure(this.rows / steps)} rows of a minibatch: it is their sum, not their mean.`,
          `${steps} 步中有 ${count} 步，无论小批有 ${figure(this.rows / steps)} 行，损失都随每个对数概率变化一整个优势：它是各行之和而非均值。`,
        ),
      };
    if (kind === 'formula') {
      const [form] = [...this.forms].reduce((most, entry) => (entry[1] > most[1] ? entry : most));
      const transform = new LossFormula(form);
      return {
        cause: 'loss-formula-differs',
        transform,
        summary: told(
          `In ${count} of ${steps} steps the loss changes with each log-probability as it does for another formula: ${transform.describe()}.`,
          `${steps} 步中有 ${count} 步，损失随各对数概率的变化符合另一个公式：${transform.describe()}。`,
        ),
      };
    }
    return {
      cause: 'loss-formula-differs',
      summary: told(
        `In ${count} of ${steps} steps rows beyond the clip have a gradient as if there were none: the clip does not act.`,
        `${steps} 步中有 ${count} 步，超出裁剪范围的行仍有梯度，如同没有裁剪：裁剪不起作用。`,
      ),
    };
  }
}

/** What the derivative is for a mean over the rows, times their number. */
function shape(rows: readonly Row[], clip: number): number[] {
  return rows.map(({ advantage, ratio, weight }) => {
    const clipped = advantage > 0 ? ratio > 1 + clip : ratio < 1 - clip;
    return clipped ? 0 : -advantage * ratio * weight;
  });
}

/** Null where hardly a row tells. */
function kindOf(rows: readonly Row[], clip: number): { kind: Kind | null; after?: number[]; form?: LossFormName } {
  const top = Math.max(...rows.map(({ coef }) => Math.abs(coef)));
  if (top === 0) return { kind: 'none' };
  // At the bound itself rounding decides.
  const clear = rows.filter(({ ratio }) => !(Math.abs(Math.abs(ratio - 1) - clip) < limits.logp.value));
  if (clear.length < fewestRows) return { kind: null };
  const found = fitted(clear, shape(clear, clip), top);
  if (found) {
    const after = shape(rows, clip).map((value, i) => found.slope * value + found.constant * rows[i].weight);
    if (found.slope < 0) return { kind: 'away', after };
    const whole = rows.reduce((sum, { weight }) => sum + weight, 0) * found.slope;
    return whole > limits.most.value * rows.length && rows.length >= limits.summedRows.value
      ? { kind: 'summed', after }
      : { kind: 'own' };
  }
  const open = fitted(clear, shape(clear, Number.NaN), top);
  const laid = (shapes: readonly number[], line: { slope: number; constant: number }) =>
    shapes.map((value, i) => line.slope * value + line.constant * rows[i].weight);
  if (open && open.slope > 0) return { kind: 'unclipped', after: laid(shape(rows, Number.NaN), open) };
  for (const form of lossFormNames) {
    const shapes = (of: readonly Row[]) => of.map((row) => -lossForm(form).slope(row, clip) * row.weight);
    const line = fitted(clear, shapes(clear), top);
    if (line && line.slope > 0) return { kind: 'formula', after: laid(shapes(rows), line), form };
  }
  return { kind: 'other' };
}

/** A slope and a constant that give all derivatives but a few; null where none do. */
function fitted(
  rows: readonly Row[],
  shapes: readonly number[],
  top: number,
): { slope: number; constant: number } | null {
  const found = solve(
    shapes.map((value, i) => [value, rows[i].weight]),
    rows.map(({ coef }) => coef),
  );
  if (!found) return null;
  const missed = rows.filter(
    ({ coef, weight }, i) =>
      !(Math.abs(found[0] * shapes[i] + found[1] * weight - coef) <= limits.coefExact.value * top),
  );
  return missed.length <= (1 - limits.formShare.value) * rows.length ? { slope: found[0], constant: found[1] } : null;
}
