/** A target was made of its parts by another formula than it should have been. */

import { told } from '../../../language/language.ts';
import type { TargetForm } from '../../buffers/target-forms.ts';
import type { Transform } from '../transform.ts';

const ends = {
  own: ['ends as they are', '按实际的结束'],
  ignored: ['ends left out of account', '不考虑结束'],
  'rewards-cross': ['rewards from beyond the end', '计入了结束之后的奖励'],
  'first-only': ['the end of the first step alone', '只看第一步的结束'],
  'limit-is-end': ['time limits read as ends', '把时间上限当作终止'],
} as const;

export class TargetWith implements Transform {
  readonly id = 'target-with';

  /** The parts of the formula that differ. */
  constructor(readonly form: Partial<TargetForm>) {}

  describe(): string {
    const { ends: end, rewards, power, entropy } = this.form;
    const parts: [string, string][] = [];
    if (end) parts.push([...ends[end]]);
    if (rewards !== undefined)
      parts.push(
        rewards === 0
          ? ['n rewards', 'n 个奖励']
          : rewards > 0
            ? [`${rewards} reward more than n`, `比 n 多 ${rewards} 个奖励`]
            : [`${-rewards} reward fewer than n`, `比 n 少 ${-rewards} 个奖励`],
      );
    if (power !== undefined)
      parts.push(
        power === 'one'
          ? ['the bootstrap discounted once', '自举只折扣一次']
          : [
              `the bootstrap discounted ${power > 0 ? 'once more' : 'once less'} than its steps`,
              `自举比步数${power > 0 ? '多' : '少'}折扣一次`,
            ],
      );
    if (entropy === -1) parts.push(['the entropy taken off the bootstrap', '从自举中减去熵']);
    if (entropy === 0) parts.push(['the bootstrap without its entropy', '自举不含熵']);
    return told(parts.map(([en]) => en).join(', '), parts.map(([, zh]) => zh).join('，'));
  }
}
