/** The update starts a sequence from another hidden state than acting had. */
import type { CauseEntry } from '../../cause.ts';

export const recurrentStateNotReplayed: CauseEntry = {
  id: 'recurrent-state-not-replayed',
  group: 'A',
  place: 74,
  family: 'ratio',
  explains: ['inputs-differ', 'critic-context-misaligned', 'old-logp-wrong'],
  decidedBy: ['samples.logits', 'replays.logits', 'samples.env', 'replays.again_logp'],
  meaning: 'The update starts a sequence from another hidden state than acting had.',
  toldApart:
    'Rows where acting began from a fresh state agree: the first rows of episodes, or the episodes that began inside the rollout. The others do not.',
  symptoms: [
    'ratios are off 1 before the first step in the middle of episodes only',
    'KL is large in the first minibatch',
  ],
  proof: 'Rows that agree and rows that do not, by where their episode began.',
  remedy:
    'Store the hidden state with every row, start each sequence of the update from it, and reset it where an episode ends.',
  pytorch:
    'h = buffer.hidden[start]                 # as acting had it\nfor t in range(start, end):\n    h = h * (1 - episode_start[t])\n    logits, h = policy(obs[t], h)',
  trueline: '// policies without memory only',
  chinese: {
    symptoms: ['第一步之前只有局中间的比率偏离 1', '第一个小批的 KL 很大'],
    meaning: '更新时序列的初始隐藏状态与行动时不同。',
    remedy: '把隐藏状态与每一行一起保存，更新的每个序列都从它开始，并在回合结束处重置。',
    toldApart: '行动时从全新状态开始的行一致：各局的首行，或在本次采集内开始的局。其余的不一致。',
    proof: '一致的行与不一致的行，按所在局从何处开始分列。',
  },
};
