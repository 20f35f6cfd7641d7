/** A target was made of its parts by another formula than it should have been. */

import { told } from '../../../language/language.ts';
import type { Bootstrap } from '../../buffers/bootstraps.ts';
import type { TargetForm } from '../../buffers/target-forms.ts';
import { figure } from '../../diagnosis.ts';
import { limits } from '../../limits.ts';
import type { Transform } from '../transform.ts';

const ends = {
  own: ['ends as they are', '按实际的结束'],
  ignored: ['ends left out of account', '不考虑结束'],
  'rewards-cross': ['rewards from beyond the end', '计入了结束之后的奖励'],
  'first-only': ['the end of the first step alone', '只看第一步的结束'],
  'limit-is-end': ['time limits read as ends', '把时间上限当作终止'],
} as const;

const reductions = {
  max: ['the greatest', '最大值'],
  min: ['the least', '最小值'],
  mean: ['the mean', '均值'],
  first: ['the first', '第一个'],
  double: ['the likeliest', '最优者'],
} as const;

/** What differs from the usual formula; or, in `terms`, a whole formula: of the reward, the bootstrap where the episode goes on, its entropy, the bootstrap where it ends, and a constant. */
export type TargetParts = Partial<TargetForm> & { bootstrap?: Bootstrap; terms?: readonly number[] };

export class TargetWith implements Transform {
  readonly id = 'target-with';

  /** The parts of the formula that differ. */
  constructor(readonly form: TargetParts) {}

  describe(): string {
    const { ends: end, rewards, power, entropy, bootstrap, terms } = this.form;
    if (terms) return formula(terms);
    const parts: [string, string][] = [];
    if (bootstrap) {
      const [en, zh] = reductions[bootstrap.by];
      parts.push(
        bootstrap.of === 'online'
          ? [
              `a bootstrap from the online network (${bootstrap.by === 'double' ? "its value of the target network's choice" : `${en} of its values`}) in place of the target network`,
              `用在线网络（${bootstrap.by === 'double' ? '目标网络所选动作的值' : `其值的${zh}`}）而非目标网络自举`,
            ]
          : [`${en} of the target networks' values as the bootstrap`, `以目标网络各值的${zh}作自举`],
      );
    }
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

function formula(terms: readonly number[]): string {
  const names = [
    ['reward', '奖励'],
    ['bootstrap', '自举'],
    ['temperature x next_logp', '温度 x next_logp'],
    ['bootstrap beyond the end', '结束之后的自举'],
    ['1', '1'],
  ] as const;
  const told2 = (side: 0 | 1) =>
    terms
      .map((value, i) => (Math.abs(value) < limits.targetExact.value ? '' : `${figure(value)} x ${names[i][side]}`))
      .filter((part) => part !== '')
      .join(' + ') || '0';
  return told(told2(0), told2(1));
}
