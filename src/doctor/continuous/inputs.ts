/** Rows of continuous actions whose update computed another mean and deviation than acting did, each pass right by its own: the policy was given the input of the row beside, or some other. */
import { told } from '../../language/language.ts';
import { budgets } from '../budgets.ts';
import { confidence, fewestRows } from '../check.ts';
import { type Finding, percent } from '../diagnosis.ts';
import { proved } from '../found.ts';
import { limits } from '../limits.ts';
import { InputOf } from '../transforms/replay/input-of.ts';
import { type Form, type Given, logpOf, type Row } from './density.ts';
import { agrees, type Scoring } from './forms.ts';

/** What acting drew from in the rows before and after; null where there is none. */
interface Seen {
  row: Scoring;
  before: Row['law'] | null;
  after: Row['law'] | null;
}

export class OtherInputs {
  private readonly seen: Seen[] = [];

  add(row: Scoring, before: Row['law'] | null, after: Row['law'] | null): void {
    if (row.differs && this.seen.length < budgets.coverRows) this.seen.push({ row, before, after });
  }

  /** Named where the neighbour's law gives nearly every row; only a candidate where nothing does. */
  finding(form: Form, how: Given | null, share: number, base: Omit<Finding, 'cause' | 'summary'>): Finding {
    for (const side of ['before', 'after'] as const) {
      const known = this.seen.filter((one) => one[side] !== null);
      const scores = known.map(({ row: { sampled }, ...one }) => logpOf(form, { ...sampled, law: one[side]! }, how));
      const fits = known.filter(({ row }, i) => agrees(row.fresh, scores[i])).length;
      if (fits < Math.max(fewestRows, limits.nearlyAll.value * known.length)) continue;
      const transform = new InputOf(side === 'before' ? -1 : 1, 'episode');
      return {
        ...base,
        cause: 'inputs-differ',
        confidence: confidence(fits / known.length, fits),
        transform,
        ...proved({
          quantity: 'log-probability',
          labels: {
            target: 'new_logp before the first step',
            before: 'old_logp, as stored',
            after: transform.describe(),
          },
          iteration: known[0].row.iteration,
          point: 'row',
          target: Float64Array.from(known, ({ row }) => row.fresh),
          before: Float64Array.from(known, ({ row }) => row.old),
          after: Float64Array.from(scores, ([logp]) => logp),
        }),
        summary: told(
          `Before the first step ${percent(share)} of the rows have another mean in the update than when they were sampled, and ${percent(fits / known.length)} of those have that of the row ${side} them in their episode: the policy was given its input.`,
          `第一步之前 ${percent(share)} 的行在更新中的均值与采样时不同，其中 ${percent(fits / known.length)} 与同一回合中${side === 'before' ? '前' : '后'}一行的相同：策略得到的是那一行的输入。`,
        ),
      };
    }
    return {
      ...base,
      cause: 'inputs-differ',
      confidence: limits.candidate.value,
      summary: told(
        'Each pass is right by its own mean and deviation, and the two differ.',
        '两次前向各自的均值和标准差都说得通，但彼此不同。',
      ),
    };
  }
}
