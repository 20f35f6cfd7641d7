/** A mean taken out by action, by place in the row's list, by group, environment or step; with `scaled`, each group was given its own scale too. */

import { told } from '../../../language/language.ts';
import { type Grouping, groupKeys } from '../../evidence/groups.ts';
import { limits } from '../../limits.ts';
import type { CreditRows, CreditTransform } from './credit-rows.ts';

const texts: Readonly<Record<Grouping, readonly [en: string, zh: string]>> = {
  action: ['mean per action', '按动作减去均值'],
  place: ["mean per place in the row's list", '按候选列表中的位置减去均值'],
  group: ['mean per group', '按组减去均值'],
  env: ['mean per environment', '按环境减去均值'],
  step: ['mean per step of the rollout, over its environments', '按采样步（跨环境）减去均值'],
};

export class GroupMean implements CreditTransform {
  readonly id = 'group-mean';
  declare readonly scaled?: true;

  constructor(
    readonly by: Grouping,
    scaled = false,
  ) {
    if (scaled) this.scaled = true;
  }

  /** Own credit with what each group lacks: the median difference, where a group has enough rows. */
  apply({ iteration, own, target, slack }: CreditRows): Float64Array | null {
    const keys = groupKeys(iteration, this.by);
    const offsets = keys && groupOffsets(keys, own, target, slack);
    return offsets && Float64Array.from(own, (value, row) => value + offsets[row]);
  }

  describe(): string {
    const [en, zh] = texts[this.by];
    return this.scaled ? told(`${en}, each with its own scale`, `${zh}，各组有自己的尺度`) : told(en, zh);
  }
}

function groupOffsets(
  keys: Float64Array,
  own: ArrayLike<number>,
  target: ArrayLike<number>,
  slack: number,
): Float64Array | null {
  const byGroup = new Map<number, number[]>();
  for (let i = 0; i < keys.length; i++) {
    const gap = target[i] - own[i];
    if (!Number.isFinite(gap)) continue;
    const list = byGroup.get(keys[i]);
    if (list) list.push(gap);
    else byGroup.set(keys[i], [gap]);
  }
  if (byGroup.size < 2) return null;
  const middle = new Map<number, number>();
  for (const [key, gaps] of byGroup) {
    if (gaps.length < limits.groupRows.value) continue;
    gaps.sort((a, b) => a - b);
    middle.set(key, gaps[gaps.length >> 1]);
  }
  const offsets = [...middle.values()];
  // The same for all groups is no mean of a group.
  if (Math.max(...offsets) - Math.min(...offsets) <= slack) return null;
  return keys.map((key) => middle.get(key) ?? Number.NaN);
}
