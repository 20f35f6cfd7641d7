/** The sampler serves other weights than the trainer believes. */
import type { CauseEntry } from '../../cause.ts';

export const weightsNotSynced: CauseEntry = {
  id: 'weights-not-synced',
  group: 'A',
  place: 26,
  family: 'ratio',
  explains: ['old-logp-wrong', 'stochastic-forward'],
  decidedBy: [
    'samples.reference_logp',
    'samples.earlier_logp',
    'responses.sampler_version',
    'responses.trainer_version',
  ],
  meaning: 'The sampler serves other weights than the trainer believes.',
  toldApart:
    'The sampler agrees with the reference (never synced, or its adapter not delivered) or with older weights; stale samples are the same responses again.',
  symptoms: ['disagreement of sampler and trainer that grows with every update', 'it looks like staleness'],
  pictures: ['token-versions'],
  proof: "The sampler's log-probabilities are those of the reference, or of older weights, to the floor.",
  remedy: 'After every update push all tensors, adapters too, and check on one prompt that both sides agree.',
  pytorch: `engine.load_weights(model.state_dict().items())   # merged adapters included
assert close(engine.score(ids), trainer.score(ids))`,
  chinese: {
    symptoms: ['采样器与训练器的分歧随每次更新增大', '看起来像样本过旧'],
    meaning: '采样器所用的权重不是训练器以为的那份。',
    remedy: '每次更新后推送全部张量（包括适配器），并用一个提示词检查两边一致。',
    toldApart: '采样器与参考模型一致（从未同步，或适配器没有送达），或与旧权重一致；样本陈旧则是同样的回答再次出现。',
    proof: '采样器的对数概率等于参考模型的，或等于旧权重的，误差低至底噪。',
  },
};
