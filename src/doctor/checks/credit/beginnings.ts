/** Where wrong credit begins: a row passes its error on to those before it in the episode, so of many rows that disagree a few may be at fault. Rows at which alone it begins tell what to look at, also where nothing reproduces it. */
import { told } from '../../../language/language.ts';
import { fewestRows } from '../../check.ts';
import type { Open } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import type { CreditRows } from '../../transforms/credit/credit-rows.ts';

const kinds = {
  limits: {
    told: ['all of it begins at rows that a time limit cut off', '全部始于被时间上限截断的行'],
    causes: ['final-observation-lost', 'inputs-differ', 'truncation-treated-as-termination'],
  },
  terminations: {
    told: ['all of it begins at rows that end an episode', '全部始于结束回合的行'],
    causes: ['return-crosses-episodes', 'done-time-shifted'],
  },
  rollouts: {
    told: ['all of it begins at the last rows of rollouts', '全部始于采样段的最后几行'],
    causes: ['critic-context-misaligned', 'credit-formula-differs'],
  },
} as const;
type Kind = keyof typeof kinds;

export class Beginnings {
  private readonly counts: Record<Kind | 'inner', number> = { limits: 0, terminations: 0, rollouts: 0, inner: 0 };

  add({ iteration, own, target, wrong, slack, rule }: CreditRows): void {
    const usual = iteration.flow('asRecorded');
    if (!usual || !rule || rule.steps !== undefined) return;
    const { terminated, truncated, chains } = iteration.credit!;
    const off = (row: number) => target[row] - own[row];
    for (let i = 0; i < wrong.length; i++) {
      const row = wrong[i];
      const after = usual.carry[row];
      const passed = after >= 0 ? rule.gamma * rule.lambda * off(after) : 0;
      // An error that was not recorded may be what is passed on.
      if (!(Math.abs(off(row) - passed) > slack)) continue;
      if (terminated[row] === 1) this.counts.terminations++;
      else if (truncated?.[row] === 1) this.counts.limits++;
      else this.counts[chains.next[row] < 0 ? 'rollouts' : 'inner']++;
    }
  }

  /** The kind of rows at which nearly all of it begins; null where there is none. */
  private get kind(): Kind | null {
    const all = Object.values(this.counts).reduce((sum, count) => sum + count, 0);
    const most = (Object.keys(kinds) as Kind[]).find((kind) => this.counts[kind] >= limits.nearlyAll.value * all);
    return most && this.counts[most] >= fewestRows ? most : null;
  }

  get note(): string | null {
    if (!this.kind) return null;
    const [english, chinese] = kinds[this.kind].told;
    return told(english, chinese);
  }

  get likely(): Pick<Open, 'likely'> {
    return this.kind ? { likely: kinds[this.kind].causes } : {};
  }
}
