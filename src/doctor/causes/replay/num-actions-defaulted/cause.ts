/** The update assumes a fixed number of candidates, whatever the row had. */
import type { CauseEntry } from '../../cause.ts';

export const numActionsDefaulted: CauseEntry = {
  id: 'num-actions-defaulted',
  group: 'A',
  place: 30,
  family: 'ratio',
  explains: ['subset-not-replayed', 'mask-not-replayed', 'subset-borrowed', 'non-finite'],
  decidedBy: ['samples.num_actions', 'samples.logits', 'replays.entropy'],
  choices: true,
  meaning: 'The update assumes a fixed number of candidates, whatever the row had.',
  toldApart:
    'The update has K candidates for one K in all rows while num_actions varies; indices beyond K are clamped or dropped.',
  symptoms: ['entropy sits at log K for one K', 'few valid samples', 'clip fraction near 1'],
  proof: 'new_logp equals the distribution over exactly K candidates in every row.',
  remedy:
    'Store num_actions (better: the whole candidate list) with every row, and let a missing one be an error and not a default.',
  pytorch: `k = exp['num_actions']                      # no .get(..., 5)
local = logits[0, exp['subset_ids'][:k]]`,
  trueline: 'localPolicy(logits, candidates, legal, temperature, out)   // the one function for both paths',
  chinese: {
    symptoms: ['熵停在某一个 K 的 log K', '有效样本很少', '裁剪比例接近 1'],
    meaning: '更新时假定候选数固定，而不看该行实际有多少。',
    remedy: '随每一行保存 num_actions（最好是整个候选列表）；缺失时应报错，而不是取默认值。',
    toldApart: 'num_actions 各行不同，更新时所有行却都是同一个 K；超出 K 的编号被截断或丢弃。',
    proof: '每一行的 new_logp 都等于恰有 K 个候选的分布。',
  },
};
