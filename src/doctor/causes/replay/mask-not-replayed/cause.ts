/** Illegal candidates have probability in the update, or legal ones have none. */
import type { CauseEntry } from '../../cause.ts';

export const maskNotReplayed: CauseEntry = {
  id: 'mask-not-replayed',
  group: 'A',
  place: 60,
  family: 'ratio',
  explains: ['non-finite', 'subset-not-replayed'],
  decidedBy: ['samples.legal', 'samples.logits'],
  choices: true,
  meaning: 'Illegal candidates have probability in the update, or legal ones have none.',
  toldApart:
    'new_logp agrees with the unmasked distribution; the error grows with the number of illegal candidates and is 0 where all are legal.',
  symptoms: [
    'ratio below 1 for nearly every row before the first step',
    'entropy in the update above that of sampling',
  ],
  proof: 'new_logp equals the distribution without the mask, or with the mask that the update recorded.',
  remedy: 'Store the legal mask with every row and apply it to the logits in the update exactly as in sampling.',
  pytorch: `logits = actor(obs)[rows, subset_ids]          # the same gather in sampling and in the update
dist = Categorical(logits=logits.masked_fill(~legal, -1e9) / temperature)`,
  trueline: 'localPolicy(logits, candidates, legal, temperature, out)   // the one function for both paths',
  chinese: {
    symptoms: ['第一步之前几乎每一行的比率都低于 1', '更新时的熵高于采样时'],
    meaning: '更新中非法候选有概率，或合法候选没有概率。',
    remedy: '随每一行保存合法掩码，更新时与采样时完全一样地作用于 logits。',
    toldApart: 'new_logp 与不加掩码的分布一致；误差随不合法候选的个数增大，全部合法时为 0。',
    proof: 'new_logp 等于不加掩码的分布，或等于用更新时所记录的掩码的分布。',
  },
};
