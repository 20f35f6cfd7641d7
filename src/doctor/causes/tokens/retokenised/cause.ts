/** The trained ids are not the ids that were sampled. */
import type { CauseEntry } from '../../cause.ts';

export const retokenised: CauseEntry = {
  id: 'retokenised',
  group: 'A',
  place: 24,
  family: 'ratio',
  explains: ['old-logp-wrong', 'weights-not-synced', 'support-truncated'],
  decidedBy: ['responses.sampled', 'responses.sampled_logp'],
  meaning: 'The trained ids are not the ids that were sampled.',
  toldApart: 'Both lists are aligned: up to where they part sampler and trainer agree, after it they do not.',
  symptoms: ['ratios far from 1 from some token of a response on', 'special tokens or spaces that come and go'],
  pictures: ['token-places', 'token-ratios'],
  proof: 'The first place where trained and sampled ids differ is where agreement ends.',
  remedy: 'Keep the ids that the engine returned, and never decode and encode them again.',
  pytorch: 'ids = output.token_ids                       # not tokenizer(output.text)',
  chinese: {
    symptoms: ['从回答的某个词元起比率远离 1', '特殊词元或空格时有时无'],
    meaning: '训练用的词元 id 不是采样得到的 id。',
    remedy: '保留引擎返回的 id，绝不要先解码再重新编码。',
    toldApart: '把两个列表对齐：分开之前采样器与训练器一致，之后不一致。',
    proof: '训练与采样的编号首次不同之处，正是一致终止之处。',
  },
};
