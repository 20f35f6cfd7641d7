/** Credit that runs on across ends where nobody recorded the environments: the episode that follows is found by its numbers, because the last row's credit is made of the first row's value and credit. */

import { told } from '../../../language/language.ts';
import { advantages } from '../../../math/advantages.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

export class EndsFound implements CreditTransform {
  readonly id = 'ends-found';

  /** Itself where most ends find the episode that follows them; null where environments tell it already, or where a made-up number finds one too. */
  fit(rows: CreditRows): EndsFound | null {
    const { rule, iteration } = rows;
    if (!rule || rule.steps !== undefined || rule.gamma === 0 || iteration.samples?.column('env')) return null;
    const right = this.following(rows, 0);
    if (!right || right.found < Math.max(limits.fewestSteps.value, limits.nearlyAll.value * right.ends)) return null;
    const made = this.following(rows, limits.madeUpShift.value * rows.slack)!;
    return made.found <= limits.madeUpInput.value * right.ends ? this : null;
  }

  apply(rows: CreditRows): Float64Array | null {
    const { iteration, rule } = rows;
    const usual = iteration.flow('asRecorded');
    const found = this.following(rows, 0);
    if (!rule || !usual || !found) return null;
    const [carry, boot] = [usual.carry.slice(), usual.boot.slice()];
    for (const [row, next] of found.next) {
      carry[row] = next;
      boot[row] = next < 0 ? Number.NaN : iteration.credit!.value[next];
    }
    return advantages(iteration.credit!, { carry, boot }, rule, new Float64Array(boot.length));
  }

  /** For every end that disagrees the first row of the same agent, later in the rollout, whose value and credit it is made of; -1 where there is none. */
  private following({ iteration, rule, own, target, slack }: CreditRows, shift: number) {
    const { credit, samples } = iteration;
    const agent = samples?.column('agent');
    if (!credit || !agent || !rule) return null;
    const { reward, value, terminated, truncated, chains } = credit;
    const heads = new Map<number, { row: number; worth: number }[]>();
    for (let row = 0; row < chains.rows; row++) {
      const worth = rule.gamma * (value[row] + rule.lambda * target[row]);
      if (chains.previous[row] >= 0 || !Number.isFinite(worth)) continue;
      const list = heads.get(agent[row]);
      if (list) list.push({ row, worth });
      else heads.set(agent[row], [{ row, worth }]);
    }
    const next = new Map<number, number>();
    let found = 0;
    for (let row = 0; row < chains.rows; row++) {
      // The last end of a rollout has nothing after it, and agrees as it is.
      if ((terminated[row] !== 1 && truncated?.[row] !== 1) || Math.abs(own[row] - target[row]) <= slack) continue;
      const wanted = target[row] - reward[row] + value[row] + shift;
      const fits = (heads.get(agent[row]) ?? []).filter(
        (head) => head.row > row && Math.abs(head.worth - wanted) <= slack,
      );
      next.set(row, fits.length === 1 ? fits[0].row : -1);
      if (fits.length === 1) found++;
    }
    return { next, found, ends: next.size };
  }

  describe(): string {
    return told(
      'ends ignored, the episode that follows being found by its value and advantage',
      '忽略结束标志；后续回合由其价值和优势找出',
    );
  }
}
