/** The update scores another candidate list, or the same in another order, than sampling did. */
import type { CauseEntry } from '../../cause.ts';

export const subsetNotReplayed: CauseEntry = {
  id: 'subset-not-replayed',
  group: 'A',
  place: 50,
  family: 'ratio',
  explains: ['mask-not-replayed', 'subset-borrowed', 'non-finite'],
  decidedBy: ['samples.logits', 'samples.subset', 'replays.subset', 'replays.logits'],
  choices: true,
  meaning: 'The update scores another candidate list, or the same in another order, than sampling did.',
  toldApart:
    'old_logp agrees with the sampling logits; new_logp before the first step agrees only after re-ordering, sorting or taking a prefix of the list.',
  symptoms: [
    'clip fraction near 1 from the first minibatch',
    'KL far above 0.1 before any step',
    'entropy near log K that does not fall',
  ],
  proof:
    "new_logp equals the row's own distribution once the candidate list is re-ordered, sorted or cut as the update did.",
  remedy:
    'Store the candidate ids of every row in the order in which they were scored, and gather by them in the update too.',
  pytorch: `logits = actor(obs)[rows, subset_ids]          # the same gather in sampling and in the update
dist = Categorical(logits=logits.masked_fill(~legal, -1e9) / temperature)`,
  trueline: 'localPolicy(logits, candidates, legal, temperature, out)   // the one function for both paths',
  chinese: {
    symptoms: ['从第一个小批起裁剪比例就接近 1', '任何一步之前 KL 就远高于 0.1', '熵接近 log K 且不下降'],
    meaning: '更新时所用的候选列表与采样时不同，或顺序不同。',
    remedy: '按打分时的顺序保存每一行的候选编号，更新时也按它取值。',
    toldApart: 'old_logp 与采样时的 logits 一致；第一步之前的 new_logp 只有在列表重排、排序或取前缀之后才一致。',
    proof: '把候选列表按更新时那样重排、排序或截短之后，new_logp 等于该行自己的分布。',
  },
};
