/** The update starts sequences from hidden states of another time. */
import type { CauseEntry } from '../../cause.ts';

export const recurrentStateStale: CauseEntry = {
  id: 'recurrent-state-stale',
  group: 'A',
  place: 72,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.state_in', 'replays.state_in', 'replays.sequence', 'samples.starts'],
  meaning:
    'The update starts sequences from hidden states of another time: of the next or the last row, or of the iteration before.',
  toldApart:
    "The state at the first row of a sequence is not the row's own and equals, entry by entry, that of the neighbouring row, or of the same row an iteration earlier.",
  symptoms: [
    'ratios are off 1 at the beginning of sequences and better further on',
    'KL is large in the first minibatch',
  ],
  proof: 'The states of first rows beside the ones they equal.',
  remedy: 'Store the hidden state before the forward pass of its row, anew in every rollout.',
  pytorch: 'buffer.state[t] = state                      # before, not after\nlogits, state = policy(obs, state)',
  trueline: '// policies without memory only',
  chinese: {
    symptoms: ['序列开头比率偏离 1，往后变好', '第一个小批的 KL 很大'],
    meaning: '更新的序列从另一时刻的隐藏状态开始：后一行或前一行的，或前一次迭代的。',
    remedy: '在该行前向之前保存隐藏状态，每次采样都重新保存。',
    toldApart: '序列首行的状态不是该行自己的，而是逐项等于相邻行的，或等于同一行上一次迭代的。',
    proof: '首行的状态，与它们所等于的状态并列。',
  },
};
