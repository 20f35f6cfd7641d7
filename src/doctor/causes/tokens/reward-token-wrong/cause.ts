/** The reward sits on a padding, masked or other token than the last sampled one. */
import type { CauseEntry } from '../../cause.ts';

export const rewardTokenWrong: CauseEntry = {
  id: 'reward-token-wrong',
  group: 'B',
  place: 108,
  explains: ['credit-formula-differs', 'return-inconsistent'],
  decidedBy: ['samples.reward', 'samples.value', 'samples.advantage'],
  meaning: 'The reward sits on a padding, masked or other token than the last sampled one.',
  toldApart: 'Moving it makes the credit pass reproduce.',
  symptoms: ['the value of the last tokens is off', 'rewards that decay through tool turns'],
  proof: 'With the reward moved every advantage is reproduced.',
  remedy: "Add the reward at the last token that the model sampled, found by its mask, not by the row's length.",
  pytorch: 'last = mask.nonzero()[-1]; rewards[last] += score',
  chinese: {
    symptoms: ['最后几个词元的价值不对', '奖励在工具轮次中衰减'],
    meaning: '奖励落在填充、被掩码的或并非最后采样的词元上。',
    remedy: '按掩码找到模型最后采样的词元，把奖励加在那里，而不是按行长度。',
    toldApart: '移动它就使信用的计算得以重现。',
    proof: '移动奖励后，每个优势都能得出。',
  },
};
