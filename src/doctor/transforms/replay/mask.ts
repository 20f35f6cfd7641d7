/** Another mask than the row's own: that of the update, of the row beside, the opposite, none at all in one of the two passes, or one that logits were multiplied by. */

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
  inverted: ['the opposite of the mask: illegal choices in place of legal ones', '相反的掩码：用非法选项代替合法选项'],
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
    return (beside && !rows.iteration.chains) ||
      ((beside || this.of === 'multiplied' || this.of === 'inverted') && !rows.sampled.legal)
      ? null
      : this;
  }

  alter(view: View, rows: ReplayRows): View | null {
    if (this.of === 'multiplied' || this.of === 'inverted') return null;
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
    if (this.of === 'inverted') return inverted(rows);
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

/** Among the illegal choices. Where there is none, all are pushed down alike, and beside so large a number no logit is left. */
function inverted({ sampled, row, view }: ReplayRows): number {
  const count = sampled.count(row.sample);
  const weight = (i: number) => Math.exp(sampled.logit(row.sample, i) / view.temperature);
  let [sum, illegal] = [0, 0];
  for (let i = 0; i < count; i++)
    if (!sampled.isLegal(row.sample, i)) {
      sum += weight(i);
      illegal++;
    }
  if (illegal === 0) return -Math.log(count);
  return sampled.isLegal(row.sample, row.action) ? Number.NEGATIVE_INFINITY : Math.log(weight(row.action) / sum);
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
