/** Did a deviation leave its range before anything else did? Where means, log-probabilities or parameters were no numbers first, the cause lies there. */
import { told } from '../../../language/language.ts';
import { type Check, confidence, type Pass } from '../../check.ts';
import { type Finding, figure, type Outcome } from '../../diagnosis.ts';
import type { Iteration } from '../../evidence/iteration.ts';
import type { Rows } from '../../evidence/rows.ts';
import { limits } from '../../limits.ts';

const check = 'deviation';

export const deviation: Check = {
  id: check,
  group: 'finite',
  question: ['Do the deviations of actions stay in their range?', '动作的标准差是否保持在有效范围内？'],
  needs: [['samples.log_std', 'replays.log_std']],
  causes: ['deviation-invalid'],
  of: 'continuous',
  start: () => new DeviationPass(),
};

class DeviationPass implements Pass {
  private looked = 0;
  private invalid = 0;
  private lowest = Number.POSITIVE_INFINITY;
  private highest = Number.NEGATIVE_INFINITY;
  private first: { iteration: number; table: string; value: number; dimension: number; meanFine: boolean } | null =
    null;

  iteration(iteration: Iteration): void {
    for (const rows of [iteration.samples, iteration.replays]) if (rows) this.see(rows, iteration.number);
  }

  private see(rows: Rows, iteration: number): void {
    const spread = rows.list('log_std');
    if (!spread) return;
    const mean = rows.list('mean');
    for (let row = 0; row < rows.rows; row++)
      for (let i = spread.offsets[row]; i < spread.offsets[row + 1]; i++) {
        const value = spread.values[i];
        this.looked++;
        if (Math.abs(value) <= limits.logDeviation.value) {
          this.lowest = Math.min(this.lowest, value);
          this.highest = Math.max(this.highest, value);
          continue;
        }
        this.invalid++;
        this.first ??= {
          iteration,
          table: rows.table,
          value,
          dimension: i - spread.offsets[row],
          meanFine: !mean || finite(mean, row),
        };
      }
  }

  finish(): Outcome {
    const measured: Outcome['measured'] = {
      rows: this.looked,
      invalid: this.invalid,
      lowest: figure(this.lowest),
      highest: figure(this.highest),
    };
    const expected = { invalid: 0, size: `at most ${limits.logDeviation.value}` };
    const { first } = this;
    if (this.looked === 0) return { status: 'not-checked', measured, expected, findings: [] };
    if (!first) return { status: 'pass', measured, expected, findings: [] };
    const findings: Finding[] = first.meanFine
      ? [
          {
            cause: 'deviation-invalid',
            confidence: confidence(1, this.invalid),
            agents: [],
            onset: first.iteration,
            rows: this.invalid,
            before: first.value,
            told: true,
            summary: told(
              `The logarithm of the deviation is ${figure(first.value)} in dimension ${first.dimension}, first in ${first.table} of iteration ${first.iteration}, while the mean is still a number: it was between ${figure(this.lowest)} and ${figure(this.highest)} before.`,
              `标准差的对数在第 ${first.dimension} 维为 ${figure(first.value)}，首次出现在第 ${first.iteration} 次迭代的 ${first.table}，而均值仍是数：此前它在 ${figure(this.lowest)} 与 ${figure(this.highest)} 之间。`,
            ),
            evidence: [{ check, measured, expected }],
          },
        ]
      : [];
    return { status: 'fail', measured, expected, findings };
  }
}

function finite(lists: { values: ArrayLike<number>; offsets: ArrayLike<number> }, row: number): boolean {
  for (let i = lists.offsets[row]; i < lists.offsets[row + 1]; i++) if (!Number.isFinite(lists.values[i])) return false;
  return true;
}
