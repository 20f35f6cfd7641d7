/** The sampler's log-probabilities are over the tokens that top-p, top-k or min-p kept, the trainer's over all. */
import type { CauseEntry } from '../../cause.ts';

export const supportTruncated: CauseEntry = {
  id: 'support-truncated',
  group: 'A',
  place: 66,
  family: 'ratio',
  explains: ['old-logp-wrong'],
  decidedBy: ['samples.kept_mass'],
  meaning:
    "The sampler's log-probabilities are over the tokens that top-p, top-k or min-p kept, the trainer's over all.",
  toldApart: 'Subtracting log kept_mass from the trainer makes them agree.',
  symptoms: ['a mean ratio below 1 that follows the kept mass', 'clip fraction before the first step'],
  pictures: ['token-ratios'],
  proof: 'Adding log kept_mass brings the gap down to the floor.',
  remedy:
    'Renormalise over the kept tokens on both sides, or let the sampler report over all tokens and sample without truncation.',
  pytorch: "SamplingParams(top_p=1.0, top_k=-1)             # or mask the trainer's logits the same way",
  chinese: {
    symptoms: ['平均比率低于 1，并随保留的概率质量变化', '第一步之前就有裁剪比例'],
    meaning: '采样器的对数概率只在 top-p、top-k 或 min-p 保留的词元上归一，训练器的在全部词元上。',
    remedy: '两边都在保留的词元上重新归一，或让采样器不截断并在全部词元上报告。',
    toldApart: '从训练器减去 log kept_mass 后两者一致。',
    proof: '加上 log kept_mass 后差距降至底噪。',
  },
};
