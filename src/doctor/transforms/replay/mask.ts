/** Another mask than the row's own: that of the update, of the row beside, none at all in one of the two passes, or one that logits were multiplied by. */

import { type Pair, told } from '../../../language/language.ts';
import { budgets } from '../../budgets.ts';
import { limits } from '../../limits.ts';
import type { Match } from '../../pairing/cover.ts';
import { Distribution } from '../../pairing/scoring.ts';
import type { ReplayRows, ReplayTransform, View } from './replay-rows.ts';

const texts = {
  update: ["the mask of the update in place of the row's own", '用更新的掩码代替该行自己的掩码'],
  none: ['unmasked distribution', '未加掩码的分布'],
  next: ['the mask of the next row', '下一行的掩码'],
  previous: ['the mask of the row before', '上一行的掩码'],
  multiplied: ['logits multiplied by the mask, which leaves illegal choices at 0', 'logits 乘以掩码，非法选项停留在 0'],
  sampling: ['no mask in sampling: illegal actions were drawn too', '采样时没有掩码：非法动作也被抽到'],
} as const satisfies Record<string, Pair>;

export class Mask implements ReplayTransform {
  readonly id = 'mask';

  constructor(readonly of: keyof typeof texts) {}

  get explains(): 'old' | undefined {
    return this.of === 'sampling' ? 'old' : undefined;
  }

  fitted(rows: ReplayRows): Mask | null {
    if (this.of === 'sampling') return rows.sampled.logits && rows.sampled.legal && drawsIllegal(rows) ? this : null;
    const beside = this.of === 'next' || this.of === 'previous';
    return (beside && !rows.iteration.chains) || ((beside || this.of === 'multiplied') && !rows.sampled.legal)
      ? null
      : this;
  }

  alter(view: View, rows: ReplayRows): View | null {
    if (this.of === 'multiplied') return null;
    if (this.of === 'none' || this.of === 'sampling') return { ...view, mask: 'none' };
    if (this.of === 'update') return this.differs(rows) ? { ...view, mask: 'update' } : null;
    const other = this.beside(rows);
    return other < 0 ? null : { ...view, mask: 'own', maskRow: other };
  }

  /** Without logits, the two masks themselves must do. */
  match(rows: ReplayRows): Match {
    const { row } = rows;
    if (this.of === 'sampling') return rows.freshIsOwn && rows.agrees(this.score(rows), row.used) ? 2 : 0;
    if (rows.canScore) {
      if ((this.of === 'next' || this.of === 'previous') && this.beside(rows) < 0) return 1;
      return rows.agrees(this.score(rows), row.fresh) ? 2 : 0;
    }
    return this.of === 'update' && rows.sampled.legal && this.differs(rows) ? 2 : 0;
  }

  score(rows: ReplayRows): number {
    if (!rows.base.logits || rows.row.action < 0) return Number.NaN;
    if (this.of === 'multiplied') return multiplied(rows);
    const view = this.alter(rows.view, rows);
    return view ? rows.score(view) : Number.NaN;
  }

  private beside({ iteration, row }: ReplayRows): number {
    const { streamNext, streamPrevious } = iteration.chains!;
    return (this.of === 'next' ? streamNext : streamPrevious)[row.sample];
  }

  private differs({ replayed, sameList, sameMask }: ReplayRows): boolean {
    return replayed.legal !== null && sameList && !sameMask;
  }

  describe(): string {
    const [en, zh] = texts[this.of];
    return told(en, zh);
  }
}

function multiplied({ sampled, row, view }: ReplayRows): number {
  let [sum, own] = [0, Number.NaN];
  for (let i = 0; i < sampled.count(row.sample); i++) {
    const logit = sampled.isLegal(row.sample, i) ? sampled.logit(row.sample, i) / view.temperature : 0;
    sum += Math.exp(logit);
    if (i === row.action) own = logit;
  }
  return own - Math.log(sum);
}

/** Whether illegal actions were drawn about as often as a distribution without a mask draws them. */
function drawsIllegal({ iteration, sampled }: ReplayRows): boolean {
  const action = iteration.samples!.column('action');
  const bare = new Distribution();
  const every = Math.max(1, Math.floor(iteration.samples!.rows / budgets.networkRows));
  let [drawn, expected] = [0, 0];
  for (let row = 0; action && row < action.length; row += every) {
    bare.of(sampled, row, sampled.temperatureOf(row), false);
    for (let i = 0; i < bare.count; i++) if (!sampled.isLegal(row, i)) expected += bare.probability(i);
    if (action[row] >= 0 && !sampled.isLegal(row, action[row])) drawn++;
  }
  return drawn >= limits.fewestRows.value && drawn >= limits.most.value * expected;
}
