/** The update runs the memory over rows in another order than they were lived. */
import type { CauseEntry } from '../../cause.ts';

export const sequencesShuffled: CauseEntry = {
  id: 'sequences-shuffled',
  group: 'A',
  place: 73,
  family: 'ratio',
  explains: ['old-logp-wrong', 'inputs-differ', 'recurrent-state-not-replayed', 'critic-context-misaligned'],
  decidedBy: ['samples.state_in', 'replays.state_in', 'replays.sequence', 'samples.starts'],
  meaning:
    'The update runs the memory over rows in another order than they were lived, or over rows of several environments in one sequence.',
  toldApart:
    'Rows of one sequence lead to another stream or back in time, and log-probabilities disagree. Sequences in any order are healthy, and so are single rows that each have their own state.',
  symptoms: ['ratios are off 1 nearly everywhere', 'the memory never helps'],
  proof: 'Neighbouring rows of sequences that do not follow each other.',
  remedy: 'Shuffle whole sequences, never the rows within them; keep (time, sequences) apart when flattening.',
  pytorch:
    'for part in torch.randperm(sequences).split(size):    # sequences, not rows\n    states = run(obs[:, part], first_state[part])       # (time, sequences, ...)',
  trueline: '// policies without memory only',
  chinese: {
    symptoms: ['比率几乎处处偏离 1', '记忆从来没有帮助'],
    meaning: '更新让记忆以与经历不同的顺序通过各行，或让一个序列混入了多个环境的行。',
    remedy: '只打乱完整的序列，绝不打乱序列内的行；展平时保持（时间，序列）分开。',
    toldApart:
      '同一序列的行通向别的数据流或时间倒退，且对数概率不一致。序列以任何次序排列都正常，各自带有状态的单行也正常。',
    proof: '序列中并不前后相接的相邻行。',
  },
};
