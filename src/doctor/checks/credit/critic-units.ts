/** In which units the critic's value and its target are, told exactly: a normaliser that moves leaves its figures of one update in the values of the next, so that lines of values and targets can be compared to rounding. */
import { told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { confidence } from '../../check.ts';
import { type Finding, figure } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Run } from '../../evidence/run.ts';
import { reportedSteps } from '../../evidence/steps/reported-steps.ts';
import { keyOf } from '../../evidence/steps/step-key.ts';
import { replayedRows } from '../../evidence/steps/step-stats.ts';
import { limits } from '../../limits.ts';
import { huber } from '../../transforms/loss/value-formula.ts';

/** How the update's numbers follow those of the samples, in one iteration. */
export interface Line {
  iteration: number;
  slope: number;
  /** In spreads. */
  shift: number;
  rows: number;
}

/** Values that went through the normaliser twice before credit was taken from them, or not at all. */
type UnitSlip = 'twice' | 'never';

/** `confirmed`: the reported value loss is that of the recorded values and targets, so that they are what the loss compares. */
function unitSlip(values: readonly Line[], targets: readonly Line[], confirmed: boolean): UnitSlip | null {
  const { credit, formulaSame } = limits;
  const same = (a: number, b: number) => Math.abs(a / b - 1) <= credit.value;
  const moved = ({ slope, shift }: Line) =>
    Math.abs(slope - 1) > formulaSame.value || Math.abs(shift) > formulaSame.value;
  let [pairs, squared] = [0, 0];
  for (const { iteration, slope } of values) {
    // Of the update before, or of this one where the normaliser learns before the rows are played.
    const near = targets.filter((target) => target.iteration === iteration - 1 || target.iteration === iteration);
    const apart = near.filter((target) => Math.abs(target.slope - 1) > formulaSame.value);
    if (apart.length < near.length || near.length < 2) continue;
    pairs++;
    if (apart.some((target) => same(slope, target.slope ** 2)) && !apart.some((target) => same(slope, target.slope)))
      squared++;
  }
  if (pairs >= 2 && squared === pairs) return 'twice';
  const untouched = values.every(({ slope, shift }) => same(slope, 1) && Math.abs(shift) <= credit.value);
  return confirmed &&
    values.length >= limits.fewestSteps.value &&
    targets.length >= limits.fewestSteps.value &&
    untouched &&
    targets.every(moved)
    ? 'never'
    : null;
}

/** Huber's losses of a step, one for each width that programs use. */
function hubers(iteration: Iteration, step: number): number[] {
  const { replays, run } = iteration;
  const [value, target] = [replays!.column('value')!, replays!.column('return')!];
  const rows = [...replayedRows(iteration)].filter(({ key }) => key === step);
  const all = rows.reduce((sum, { weight }) => sum + weight, 0);
  return [run.number('huber_delta'), ...budgets.huberWidths].map((width) => {
    const cost = huber(width);
    return rows.reduce((sum, { row, weight }) => sum + weight * cost(value[row] - target[row]), 0) / all;
  });
}

const slipText = (slip: UnitSlip): string =>
  slip === 'twice'
    ? told(
        "Values of the samples are the critic's times the square of the factor between returns and targets: they were denormalised twice.",
        '样本中的价值是价值网络输出乘以回报与目标之间因子的平方：反归一化做了两次。',
      )
    : told(
        'The critic learns normalised returns, and credit takes its values as they come: they were never brought back to the units of the rewards.',
        '价值网络学习归一化的回报，而信用直接使用其输出：从未换回奖励的单位。',
      );

export class CriticUnits {
  /** First steps, before which no value has moved out of a clip, whose reported value loss is what was recorded gives, and others. */
  private readonly losses = { told: 0, other: 0 };

  see(iteration: Iteration): void {
    const reported = iteration.steps?.column('value_loss');
    for (const { row, stat } of reported ? reportedSteps(iteration) : []) {
      if (!stat.before || !Number.isFinite(reported![row] / stat.valueLoss)) continue;
      const same = (given: number) => Math.abs(reported![row] / given - 1) <= limits.valueFormula.value;
      const right =
        [1, 1 / 2].some((factor) => same(factor * stat.valueLoss)) || hubers(iteration, keyOf(stat)).some(same);
      this.losses[right ? 'told' : 'other']++;
    }
  }

  findings(run: Run, values: ReadonlyMap<number, Line[]>, targets: ReadonlyMap<number, Line[]>): Finding[] {
    return [...values].flatMap(([policy, lines]): Finding[] => {
      const slip = unitSlip(lines, targets.get(policy) ?? [], this.losses.told > this.losses.other);
      if (!slip) return [];
      const rows = lines.reduce((sum, line) => sum + line.rows, 0);
      const slopes = lines.slice(-budgets.toldFigures).map(({ slope }) => Number(figure(slope)));
      return [
        {
          cause: 'value-scale-mismatch',
          confidence: Math.min(limits.byFit.value, confidence(1, rows)),
          agents: run.agentsOf(policy),
          onset: 0,
          rows,
          told: true,
          summary: slipText(slip),
          evidence: [{ check: 'critic', measured: { slopes }, expected: { slopes: 'those of the targets' } }],
        },
      ];
    });
  }
}
