/** The memory entered a row in another state than it should have. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

const texts = {
  'episode-before': ['the state of the episode before', '上一回合的状态'],
  late: ['the state of the episode before, and none one step later', '上一回合的状态，且晚一步才清空'],
  'after-termination': ['the state of the episode before, after terminations only', '仅在终止之后仍是上一回合的状态'],
  'after-truncation': ['the state of the episode before, after time limits only', '仅在时间上限之后仍是上一回合的状态'],
  'next-row': ['the state of the next row', '下一行的状态'],
  'previous-row': ['the state of the row before', '前一行的状态'],
  'earlier-iteration': ['the state of the same row one iteration earlier', '前一次迭代同一行的状态'],
  'other-order': ['rows in another order than they were lived', '行的顺序与经历的顺序不同'],
} as const;

export class StateOf implements Transform {
  readonly id = 'state-of';

  constructor(readonly is: keyof typeof texts) {}

  describe(): string {
    const [en, zh] = texts[this.is];
    return told(en, zh);
  }
}
