/** Which formula gives the value losses of an update: those that programs use, and a clip of the values that is not the declared one. */
import { budgets } from '../../../budgets.ts';
import { figure } from '../../../diagnosis.ts';
import type { Iteration } from '../../../evidence/iteration.ts';
import type { Run } from '../../../evidence/run.ts';
import { reportedSteps } from '../../../evidence/steps/reported-steps.ts';
import { keyOf } from '../../../evidence/steps/step-key.ts';
import type { StepStat } from '../../../evidence/steps/step-stats.ts';
import { limits } from '../../../limits.ts';
import {
  huber,
  type Penalty,
  type ValueFormName,
  valueForm,
  valueForms,
} from '../../../transforms/loss/value-formula.ts';
import {
  fitOf,
  given,
  isRight,
  units,
  type ValueReading,
  type ValueRows,
} from '../../../transforms/loss/value-rows.ts';

const { valueFormula, valueRounding, formulaApart } = limits;
const exact = valueRounding.value * valueFormula.value;

/** What the rows of a step are brought together as. */
const means = [
  { all: false, summed: false },
  { all: false, summed: true },
  { all: true, summed: false },
  { all: true, summed: true },
  { all: false, summed: false, halves: true },
];

export class ValueSearch {
  /** Whether a clip of the values is declared. */
  readonly clips: boolean;
  private readonly clip: number;
  /** The declared clip, and the one in use where values are clipped as ratios are. */
  private readonly meant = new Set<number>();
  private readonly penalties: Penalty[];
  /** What programs multiply a value loss by before they report it. */
  private readonly factors: number[];
  /** What gave an update before, which is tried first. */
  private kept: ValueReading[] = [];

  constructor(private readonly run: Run) {
    const widths = [run.number('huber_delta'), ...budgets.huberWidths].filter((delta) => delta > 0);
    this.penalties = [(error) => error * error, ...[...new Set(widths)].map(huber), Math.abs];
    this.factors = factorsOf(run);
    this.clip = run.number('value_clip');
    this.clips = this.clip > 0;
  }

  /** The formula that gives every step to rounding, a right one if there is one, with the declared clip before all others; null where none does. */
  find(steps: readonly ValueRows[], inUse: number): ValueReading | null {
    const fits = (formula: ValueReading) => this.fits(steps, formula);
    this.meant.clear();
    this.meant.add(this.clip);
    if (this.clip === this.run.number('clip')) this.meant.add(inUse);
    const again = this.kept.filter(fits);
    const settled = this.clips ? again.some((one) => isRight(one) && this.isMeant(one)) : again.some(isRight);
    const found = settled ? again : [...again, ...this.formulas(inUse).filter(fits)];
    this.kept = [...new Set([...found, ...this.kept])].slice(0, budgets.toldFigures);
    const right = found.filter(isRight);
    return (
      right.find((one) => this.isMeant(one)) ?? right[0] ?? found[0] ?? (this.clips ? this.otherClip(steps) : null)
    );
  }

  /** Whether rows tell that a formula is not the one with the declared clip, whichever its units. */
  isOther(steps: readonly ValueRows[], found: ValueReading): boolean {
    if (!this.clips || this.isMeant(found)) return false;
    const varies = (formula: ValueReading) => fitOf(steps.map((step) => step.told / given(formula, step))).varies;
    return varies(found) <= exact && this.clipped().every((meant) => varies(meant) > formulaApart.value * exact);
  }

  private isMeant({ form, clip }: ValueReading): boolean {
    return valueForm(form).free !== true && this.meant.has(clip);
  }

  private clipped(): ValueReading[] {
    return this.readings((form) => (valueForm(form).free || !valueForm(form).right ? [] : [...this.meant]));
  }

  private fits(steps: readonly ValueRows[], formula: ValueReading): boolean {
    const quotients: number[] = [];
    for (const step of steps) {
      quotients.push(step.told / given(formula, step));
      // Most formulas are out at the second step.
      if (!(fitOf(quotients).varies < valueFormula.value)) return false;
    }
    if (isRight(formula)) return true;
    // What accuses must be exact, and its factor one that programs multiply by.
    const { mean, varies } = fitOf(quotients);
    return varies <= exact && this.factors.some((factor) => Math.abs(mean / factor - 1) <= valueFormula.value);
  }

  private formulas(inUse: number): ValueReading[] {
    const clips = [...new Set([this.clip, inUse, ...budgets.valueClips].filter((clip) => clip > 0))];
    return this.readings((form) => (valueForm(form).free ? [0] : clips));
  }

  private readings(clipsOf: (form: ValueFormName) => readonly number[]): ValueReading[] {
    const names = Object.keys(valueForms) as ValueFormName[];
    return names.flatMap((form) =>
      clipsOf(form).flatMap((clip) =>
        units.flatMap((old) =>
          this.penalties.flatMap((penalty) => means.map((mean) => ({ form, clip, old, penalty, ...mean }))),
        ),
      ),
    );
  }

  /** One clip that is neither declared nor usual and gives all steps: it is looked for where the last one's loss lies between those of two clips. */
  private otherClip(steps: readonly ValueRows[]): ValueReading | null {
    // Before the first step nothing is clipped: the last one tells most.
    const last = steps[steps.length - 1];
    const ladder = budgets.clipLadder.map((factor) => factor * this.clip);
    for (const reading of this.clipped().filter(({ summed, halves }) => !summed && !halves))
      for (const factor of this.factors) {
        const off = (clip: number) => given({ ...reading, clip }, last) - last.told / factor;
        for (let i = 1; i < ladder.length; i++) {
          let [low, high] = [ladder[i - 1], ladder[i]];
          const below = off(low) < 0;
          if (below === off(high) < 0) continue;
          for (let k = 0; k < budgets.clipHalvings; k++) {
            const middle = (low + high) / 2;
            if (off(middle) < 0 === below) low = middle;
            else high = middle;
          }
          const fit = fitOf(steps.map((step) => step.told / given({ ...reading, clip: low }, step)));
          if (fit.varies <= exact) return { ...reading, clip: Number(figure(low)) };
        }
      }
    return null;
  }
}

function factorsOf(run: Run): number[] {
  const weight = run.number('value_coefficient');
  return [1, 1 / 2, 2].flatMap((factor) => (weight > 0 ? [factor, factor * weight] : [factor]));
}

/** Whether value losses are sums over the rows, in the loss too, while policy losses are means of them. `quotient`: what was told over the mean of the rows. */
export function isSummed(
  run: Run,
  iteration: Iteration,
  steps: readonly { told: number; stat: StepStat }[],
  quotient: number,
): boolean {
  const { value: slack } = valueFormula;
  const factors = factorsOf(run);
  const usual = (value: number) => factors.some((factor) => Math.abs(value / factor - 1) <= slack);
  const fewest = Math.max(...factors) / Math.min(...factors);
  if (run.text('loss_reduction') === 'sum' || usual(quotient)) return false;
  if (!steps.every(({ stat }) => stat.weight > fewest && usual(quotient / stat.weight))) return false;
  const policy = iteration.steps?.column('policy_loss');
  if (!policy) return false;
  const rows = new Map(reportedSteps(iteration).map(({ row, stat }) => [keyOf(stat), row]));
  const whole = iteration.steps?.column('loss');
  const used = steps.filter(({ told, stat }) => {
    const row = rows.get(keyOf(stat))!;
    const mean = Math.abs(policy[row] - stat.loss) <= limits.lossRelative.value * Math.abs(stat.loss) + stat.noise;
    // A sum that is only told leaves a whole loss that is far too small for it.
    const inWhole = !whole || !(Math.abs(whole[row] - policy[row]) < (Math.min(...factors) / 2) * told);
    return mean && inWhole;
  });
  return used.length > limits.most.value * steps.length;
}
