/** Another agent's or another row's candidate list was used. */
import type { CauseEntry } from '../../cause.ts';

export const subsetBorrowed: CauseEntry = {
  id: 'subset-borrowed',
  group: 'A',
  place: 40,
  family: 'ratio',
  explains: ['mask-not-replayed', 'subset-not-replayed', 'num-actions-defaulted', 'non-finite'],
  decidedBy: ['samples.subset', 'replays.subset', 'samples.logits'],
  choices: true,
  meaning: "Another agent's or another row's candidate list was used.",
  toldApart: 'new_logp agrees when the list of the paired row is used.',
  symptoms: [
    'ratios far from 1 before the first step, for some agents only',
    'errors grow with how much the lists differ',
  ],
  proof:
    "The list of the update is that of another agent at the same step, of a neighbouring row, or of another row of the batch, and not the row's own.",
  remedy: 'Keep the candidate list in the row itself, and never broadcast or cache it across agents or steps.',
  pytorch: `logits = actor(obs)[rows, subset_ids]          # the same gather in sampling and in the update
dist = Categorical(logits=logits.masked_fill(~legal, -1e9) / temperature)`,
  trueline: 'batch.subset stays in its row; re-order a Batch only whole',
  chinese: {
    symptoms: ['第一步之前只有部分智能体的比率远离 1', '列表相差越多，误差越大'],
    meaning: '使用了其他智能体或其他行的候选列表。',
    remedy: '把候选列表存在该行自身，不要在智能体或步之间广播或缓存。',
    toldApart: '换用配对行的列表后 new_logp 一致。',
    proof: '更新所用的列表是同一步另一智能体的、相邻行的或批次中另一行的，而不是该行自己的。',
  },
};
