/** Too many groups carry no signal: all of their rewards are equal, or they were dropped. */
import type { CauseEntry } from '../../cause.ts';

export const groupDegenerate: CauseEntry = {
  id: 'group-degenerate',
  group: 'B',
  place: 224,
  decidedBy: ['responses.reward', 'steps.groups_dropped'],
  meaning: 'Too many groups carry no signal: all of their rewards are equal, or they were dropped.',
  toldApart:
    'The share of groups whose rewards do not differ. Groups in which every answer has the best reward are solved, and a remark.',
  symptoms: ['advantages of 0 and a gradient that vanishes', 'rewards at 0 or at 1'],
  pictures: ['token-rewards'],
  proof: 'Rewards within most groups are all equal.',
  remedy: 'Choose prompts that the model solves now and then, take larger groups, or grade more finely.',
  pytorch: 'keep = group_reward.std(-1) > 0                 # and sample more prompts',
  chinese: {
    symptoms: ['优势为 0，梯度消失', '奖励停在 0 或 1'],
    meaning: '太多的组没有信号：组内奖励全相等，或被丢弃。',
    remedy: '选择模型有时能解出的提示词，增大组，或使评分更细。',
    toldApart: '奖励没有差别的组所占比例。每个回答都得最高奖励的组是已解决的，只作提示。',
    proof: '大多数组内的奖励全部相等。',
  },
};
