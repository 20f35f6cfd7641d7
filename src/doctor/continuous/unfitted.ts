/** What one pass computed where a known formula gives the other pass and none gives this one: a fitted deviation, a fitted action, the action before tanh; and where none of them is it, whether the stored log-probability itself is wrong. */
import { told } from '../../language/language.ts';
import { type Finding, percent } from '../diagnosis.ts';
import { proved } from '../found.ts';
import { limits } from '../limits.ts';
import { ScoredAs } from '../transforms/continuous/scored-as.ts';
import type { Transform } from '../transforms/transform.ts';
import { type Form, type Given, logpOf } from './density.ts';
import { crossed, fitted, formsFor, type Scoring } from './forms.ts';
import { otherAction } from './other-action.ts';
import { otherDeviation } from './other-deviation.ts';

type Base = Omit<Finding, 'cause' | 'summary'>;

/** `inside` is the share of the disagreeing rows that have no dimension at a bound. */
export function unfitted(
  rows: readonly Scoring[],
  [old, fresh]: readonly [Form | null, Form | null],
  { how, share, inside }: { how: Given | null; share: number; inside: number },
  base: Base,
): Finding[] {
  const known = old ?? fresh;
  if (!known || (old && fresh)) return [];
  const side = old ? 'new' : 'old';
  const deviation = otherDeviation(rows, side, known, how);
  if (deviation) return [fittedTo('deviation-scale-wrong', deviation, rows, side, share, base)];
  const action = otherAction(rows, side, known) ?? beforeTanh(rows, side);
  if (action) return [fittedTo('clipped-action-stored', action, rows, side, share, base)];
  // What was clipped before it was recorded leaves the rows at a bound, and is told by them.
  if (side === 'old' && inside >= limits.most.value && wronglyStored(known, rows, how))
    return [storedWrongly(known, rows, how, share, base)];
  return [];
}

interface Told {
  transform: Transform;
  given: Float64Array;
}

/** The action that was recorded is a squashed one, and this pass scored it before tanh. */
function beforeTanh(rows: readonly Scoring[], side: 'old' | 'new'): Told | null {
  const unseen = ({ sampled: { action, given } }: Scoring) =>
    given === null && action.every((value) => Math.abs(value) <= limits.farOut.value);
  if (!rows.every(unseen)) return null;
  const how: Given = { how: 'squashed', times: new Float64Array(rows[0].sampled.action.length).fill(1) };
  const raw = rows.map((row) => ({
    ...row,
    sampled: { ...row.sampled, action: row.sampled.action.map(Math.atanh) },
    updated: { ...row.updated, action: row.updated.action.map(Math.atanh) },
  }));
  const form = fitted(formsFor(rows[0].sampled.action.length, how), raw, side, how);
  if (!form) return null;
  return {
    transform: new ScoredAs(side, { action: 'raw', ...(form.squash !== 0 ? { squash: form.squash } : {}) }),
    given: Float64Array.from(raw, (row) => logpOf(form, side === 'old' ? row.sampled : row.updated, how)[0]),
  };
}

const recorded = (rows: readonly Scoring[], side: 'old' | 'new') =>
  Float64Array.from(rows, ({ old, fresh }) => (side === 'old' ? old : fresh));
const labelOf = { old: 'old_logp, as stored', new: 'new_logp before the first step' } as const;

function fittedTo(
  cause: string,
  { transform, given }: Told,
  rows: readonly Scoring[],
  side: 'old' | 'new',
  share: number,
  base: Base,
): Finding {
  const other = side === 'old' ? 'new' : 'old';
  const whose = side === 'old' ? told('acting', '行动时') : told('the update', '更新时');
  return {
    ...base,
    cause,
    transform,
    ...proved({
      quantity: 'log-probability',
      labels: { target: labelOf[side], before: labelOf[other], after: transform.describe() },
      iteration: rows[0].iteration,
      point: 'row',
      target: recorded(rows, side),
      before: recorded(rows, other),
      after: given,
    }),
    summary: told(
      `Before the first step ${percent(share)} of the rows have another log-probability in the update than when they were sampled. That of ${whose} is given exactly by ${transform.describe()}.`,
      `第一步之前，${percent(share)} 的行在更新中的对数概率与采样时不同。${whose}的对数概率可由以下方式精确得出：${transform.describe()}。`,
    ),
  };
}

/** The update gives these actions what acting's own distribution gives them, and what acting stored is something else. */
function wronglyStored(fresh: Form, rows: readonly Scoring[], how: Given | null): boolean {
  return (
    rows.every(({ own }) => own?.sampled && own.old) &&
    fitted([fresh], crossed(rows), 'new', how) !== null &&
    fitted([fresh], rows, 'new', how) !== null
  );
}

function storedWrongly(fresh: Form, rows: readonly Scoring[], how: Given | null, share: number, base: Base): Finding {
  return {
    ...base,
    cause: 'old-logp-wrong',
    ...proved({
      quantity: 'log-probability',
      labels: {
        target: labelOf.new,
        before: labelOf.old,
        after: told("of the stored action, by acting's own mean and deviation", '按行动时的均值和标准差计算所存动作'),
      },
      iteration: rows[0].iteration,
      point: 'row',
      target: recorded(rows, 'new'),
      before: recorded(rows, 'old'),
      after: Float64Array.from(rows, ({ sampled }) => logpOf(fresh, sampled, how)[0]),
    }),
    summary: told(
      `On ${percent(share)} of the rows the stored old_logp is not the log-probability of the stored action by the mean and deviation that acting recorded, and the update's before its first step is: another action was scored than the one that was stored, such as before noise was added to it.`,
      `在 ${percent(share)} 的行上，所存的 old_logp 不是所存动作按行动时录下的均值和标准差得到的对数概率，而更新在第一步之前的对数概率是：打分的动作不是所存的那个，例如在加噪声之前。`,
    ),
  };
}
