/** Which of two distributions drew the actions, where old and new log-probabilities are both sound numbers and disagree: under the one that drew them the mean log-ratio to the other is below 0, and the mean ratio is 1. */
import { told } from '../../../language/language.ts';
import type { Finding } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import { OldLogp } from '../../transforms/replay/old-logp.ts';

export class DrawnBy {
  private count = 0;
  private sum = 0;
  private squares = 0;
  private ratios = 0;
  private ratioSquares = 0;

  /** The new log-probability less the old one. */
  add(log: number): void {
    if (!Number.isFinite(log)) return;
    const ratio = Math.exp(log);
    this.count++;
    this.sum += log;
    this.squares += log * log;
    this.ratios += ratio;
    this.ratioSquares += ratio * ratio;
  }

  /** Actions that the old one drew come from an earlier policy: the first iteration, which has none, is right. */
  named(finding: Finding): Finding {
    const { transform } = finding;
    if (!(transform instanceof OldLogp) || transform.is !== 'other-number' || !(finding.onset > 0)) return finding;
    const error = (sum: number, squares: number) =>
      Math.sqrt(Math.max(0, squares / this.count - (sum / this.count) ** 2) / this.count);
    const below = this.sum / this.count < -limits.drawnSigmas.value * error(this.sum, this.squares);
    const one = Math.abs(this.ratios / this.count - 1) <= limits.sigmas.value * error(this.ratios, this.ratioSquares);
    if (!below || !one) return finding;
    const { transform: _, proof: __, after: ___, ...rest } = finding;
    return {
      ...rest,
      cause: 'stale-samples',
      told: true,
      summary: told(
        `Before the first step, from iteration ${finding.onset} on, the update's policy is not the one that drew the actions, and their old log-probabilities are those of the one that did: an earlier policy played.`,
        `从第 ${finding.onset} 次迭代起，在第一步之前，更新所用的策略不是抽取动作的策略，而旧对数概率属于抽取动作的那个：行动的是更早的策略。`,
      ),
    };
  }
}
