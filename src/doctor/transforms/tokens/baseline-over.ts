/** The members that an advantage's baseline and scale were taken over, or the rewards that it was taken from. */

import { told } from '../../../language/language.ts';
import type { Transform } from '../transform.ts';

const words: Record<string, [string, string]> = {
  batch: ['baseline over the whole batch', '基线取自整个批次'],
  neighbours: [
    'baseline over neighbours in storage order, whatever their prompt',
    '基线取自相邻存放的回答，而不论提示词',
  ],
  interleaved: ['baseline over every k-th response in storage order', '基线取自存放顺序中每隔 k 个的回答'],
  late: ['baseline over groups that begin one response late', '分组从晚一个回答处开始'],
  merged: ['baseline over two prompts in one group', '两个提示词并成了一组'],
  prompt: [
    'baseline over all responses with the same prompt text, of several groups',
    '基线取自提示词文本相同的多个组',
  ],
  first: ["baseline from the group's first member alone", '基线只取自组内第一个回答'],
  masked: ['baseline over responses that are not trained, too', '基线也包含未参与训练的回答'],
  trained: ['baseline over trained responses only', '基线只取自参与训练的回答'],
  graded: ["rewards as the grader gave them for each response's own key", '按评分器自身的键取得的奖励'],
  untruncated: ['cut answers with the reward that they were graded with', '被截断的回答按其评分计奖励'],
  zeroed: ['cut answers with reward 0', '被截断的回答奖励为 0'],
  returns: ["rewards as the episodes' returns say", '按回合回报取得的奖励'],
};

export class BaselineOver implements Transform {
  readonly id = 'baseline-over';

  constructor(
    readonly members: string,
    readonly scale?: string,
  ) {}

  describe(): string {
    const [en, zh] = words[this.members] ?? [this.members, this.members];
    return told(en, zh);
  }
}
