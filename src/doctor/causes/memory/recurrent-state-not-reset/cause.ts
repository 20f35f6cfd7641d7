/** The memory is carried over the end of an episode. */
import type { CauseEntry } from '../../cause.ts';

export const recurrentStateNotReset: CauseEntry = {
  id: 'recurrent-state-not-reset',
  group: 'A',
  place: 71,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.state_in', 'replays.state_in', 'replays.sequence', 'samples.starts'],
  meaning:
    'The memory is carried over the end of an episode: always, one step too long, or after one kind of end only; when acting, or in the update.',
  toldApart:
    'First rows of episodes are entered with a state that is not the initial one. A program that carries it on purpose declares memory_across_episodes.',
  symptoms: [
    'an episode begins with what the one before ended with',
    'ratios are off 1 after ends, where only one pass forgets',
  ],
  proof: 'The states of first rows, by how the episode before them ended.',
  remedy:
    'Set the hidden state back wherever an episode ends, terminated or truncated, before the next row is entered, in acting and in the update.',
  pytorch:
    'done = terminated | truncated\nstate = state * (1 - done.float())[:, None]     # before the next forward pass, in both passes',
  trueline: '// policies without memory only',
  chinese: {
    symptoms: ['一局开始时带着上一局结束时的状态', '若只有一次计算会忘记，局结束之后比率偏离 1'],
    meaning: '记忆被带过了回合的结尾：总是如此、晚了一步，或只在一种结尾之后；发生在行动时或更新时。',
    remedy: '凡是回合结束处（终止或截断），都在进入下一行之前把隐藏状态重置，行动和更新都要如此。',
    toldApart: '各局的首行带着并非初始状态的状态进入。有意延续状态的程序会声明 memory_across_episodes。',
    proof: '各局首行的状态，按上一局如何结束分列。',
  },
};
