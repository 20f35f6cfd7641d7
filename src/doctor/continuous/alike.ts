/** What is wrong in both passes of continuous actions alike: it cancels in no ratio, and yet the two agree. */
import { told } from '../../language/language.ts';
import { type Finding, figure } from '../diagnosis.ts';
import { proved } from '../found.ts';
import { ScoredAs } from '../transforms/continuous/scored-as.ts';
import { type Form, type Given, logpOf, usual } from './density.ts';
import type { Scoring } from './forms.ts';
import type { Deviation } from './laws.ts';
import { drawnAt, type Noise } from './noise.ts';

/** The two passes agree, and yet may both be wrong. */
export function alike(
  old: Form,
  fresh: Form,
  rows: readonly Scoring[],
  { how, noise }: { how: Given | null; noise: Noise },
  base: Omit<Finding, 'cause' | 'summary'>,
): Finding[] {
  if (old.reduce !== usual.reduce && old.reduce === fresh.reduce) {
    const transform = new ScoredAs('both', { reduce: old.reduce });
    const value = (form: Form) => Float64Array.from(rows, ({ sampled }) => logpOf(form, sampled, how)[0]);
    return [
      {
        ...base,
        ...proved({
          quantity: 'log-probability',
          labels: {
            target: 'as recorded',
            before: told('the sum over dimensions', '各维之和'),
            after: transform.describe(),
          },
          iteration: base.onset,
          point: 'row',
          target: Float64Array.from(rows, (row) => row.old),
          before: value({ ...old, reduce: 'sum' }),
          after: value(old),
        }),
        cause: 'dimensions-reduced-wrong',
        transform,
        summary: told(
          `Both passes take ${transform.describe()} for the log-probability of an action with ${rows[0].sampled.action.length} dimensions, where it is their sum: ratios are not those of the action.`,
          `动作有 ${rows[0].sampled.action.length} 维，两次前向却都以${transform.describe()}为其对数概率，而它应是各维之和：比率不是该动作的比率。`,
        ),
      },
    ];
  }
  const scored = old.deviation;
  const drawn = noise.drawnWith();
  const factor = drawn === null && scored === 'own' ? noise.factor() : null;
  if (factor !== null && scored === fresh.deviation) return [{ ...base, ...drawnAt(factor) }];
  if (scored !== fresh.deviation || drawn === null || drawn === scored) return [];
  const [side, kind]: ['both' | 'draw', Deviation] = drawn === 'own' ? ['both', scored] : ['draw', drawn];
  const transform = new ScoredAs(side, { deviation: kind });
  return [
    {
      ...base,
      cause: 'deviation-scale-wrong',
      transform,
      before: noise.spread(scored),
      after: noise.spread(drawn),
      summary: told(
        side === 'draw'
          ? `Actions are drawn with ${transform.describe()}, and scored with the deviation: squared distances from the mean average ${figure(noise.spread(scored))} of what the log-probabilities take them for.`
          : `Both passes score actions with ${transform.describe()}, and they are drawn with the deviation: squared distances from the mean average ${figure(noise.spread(scored))} of what the log-probabilities take them for.`,
        side === 'draw'
          ? `动作是用${transform.describe()}采样的，却用标准差打分：到均值的平方距离平均是对数概率所认定的 ${figure(noise.spread(scored))} 倍。`
          : `两次前向都用${transform.describe()}打分，而动作是用标准差采样的：到均值的平方距离平均是对数概率所认定的 ${figure(noise.spread(scored))} 倍。`,
      ),
    },
  ];
}
