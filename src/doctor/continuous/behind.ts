/** Whether acting drew with the policy of an earlier iteration. A deviation that does not depend on the state is a fingerprint of the parameters: where acting's is, to the last digit, what it was some iterations before, and the update begins with another, acting had not been given the last update. Says nothing where acting's deviation never moves, which may be meant. */
import { told } from '../../language/language.ts';
import { confidence } from '../check.ts';
import { type Finding, percent } from '../diagnosis.ts';
import { listOf } from '../evidence/keys.ts';
import { proved } from '../found.ts';
import { limits } from '../limits.ts';
import { PolicyOfIteration } from '../transforms/rows/policy-of-iteration.ts';
import type { Scoring } from './forms.ts';
import { GaussianLaw } from './laws.ts';

/** One agent's rows of one iteration: the deviations that all of them share, and whether they disagree. */
interface Shared {
  number: number;
  acting: Float64Array;
  update: Float64Array;
  struck: boolean;
}

type Found = Pick<Shared, 'number' | 'acting' | 'update'> & { earlier: Shared };

/** `rows` are all that were looked at, those that agree too. */
export function behind(
  rows: readonly Scoring[],
  share: number,
  base: Omit<Finding, 'cause' | 'summary'>,
): Finding | null {
  const byAgent = new Map<number, Scoring[]>();
  for (const row of rows) listOf(byAgent, row.agent).push(row);
  const found: Found[] = [];
  for (const own of byAgent.values()) {
    const part = foundIn(own);
    if (!part) return null;
    found.push(...part);
  }
  if (found.length === 0) return null;
  const lags = new Set(found.map(({ number, earlier }) => number - earlier.number));
  const transform = new PolicyOfIteration(Math.min(...lags));
  const flat = (of: (one: Found) => Float64Array) => Float64Array.from(found.flatMap((one) => [...of(one)]));
  const numbers = [...new Set(found.map(({ number }) => number))].sort((a, b) => a - b);
  const some = `${numbers.slice(0, limits.fewestRows.value).join(', ')}${numbers.length > limits.fewestRows.value ? ' ...' : ''}`;
  return {
    ...base,
    cause: 'stale-samples',
    confidence: confidence(1, base.rows),
    onset: numbers[0],
    transform,
    ...proved({
      quantity: 'logarithm of the deviation',
      labels: { target: 'when acting', before: 'in the update, before its first step', after: transform.describe() },
      iteration: numbers[0],
      point: 'iteration',
      target: flat(({ acting }) => acting),
      before: flat(({ update }) => update),
      after: flat(({ earlier }) => earlier.acting),
    }),
    summary: told(
      `Before the first step ${percent(share)} of the rows have another log-probability in the update than when they were sampled, all of them in iteration${numbers.length === 1 ? '' : 's'} ${some}. There acting's deviations are, to the last digit, those of an earlier iteration, while the update begins with newer ones: the rows are new, and were drawn by ${transform.describe()}. Where acting has a copy of the policy, it was not given the last update.`,
      `第一步之前，${percent(share)} 的行在更新中的对数概率与采样时不同，都在第 ${some} 次迭代。在这些迭代中，行动时的标准差与更早一次迭代的完全相同，而更新一开始就用了更新后的标准差：这些行是新的，却由${transform.describe()}抽取。若行动使用策略的副本，它没有得到上一次更新。`,
    ),
  };
}

function foundIn(rows: readonly Scoring[]): Found[] | null {
  const byIteration = new Map<number, Scoring[]>();
  for (const row of rows) listOf(byIteration, row.iteration).push(row);
  const all: Shared[] = [];
  for (const [number, own] of byIteration) {
    const [acting, update] = [shared(own, 'sampled'), shared(own, 'updated')];
    if (!acting || !update) return null;
    const differing = own.filter(({ differs }) => differs).length;
    all.push({ number, acting, update, struck: differing >= limits.most.value * own.length });
  }
  all.sort((a, b) => a.number - b.number);
  if (all.length === 0 || all[0].struck || all.every(({ acting }) => same(acting, all[0].acting))) return null;
  const found: Found[] = [];
  for (const [i, one] of all.entries()) {
    if (same(one.acting, one.update) === one.struck) return null;
    if (!one.struck) continue;
    const earlier = all.slice(0, i).findLast(({ acting }) => same(acting, one.acting));
    if (!earlier) return null;
    found.push({ ...one, earlier });
  }
  return found;
}

/** The deviation of all these rows; null where it is not the same, or was not recorded. */
function shared(rows: readonly Scoring[], side: 'sampled' | 'updated'): Float64Array | null {
  let first: Float64Array | null = null;
  for (const row of rows) {
    const { law } = row[side];
    if (!row.own?.[side] || !(law instanceof GaussianLaw)) return null;
    first ??= law.logStd;
    if (!same(first, law.logStd)) return null;
  }
  return first;
}

/** The very same numbers: a step of an optimiser that moved them by less than their last digit moved nothing. */
const same = (a: Float64Array, b: Float64Array) =>
  a.length === b.length &&
  a.every((value, d) => Math.abs(value - b[d]) <= limits.rounding.value * (1 + Math.abs(value)));
