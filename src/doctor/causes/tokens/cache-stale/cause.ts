/** The sampler reuses a prefix cache that older weights made. */
import type { CauseEntry } from '../../cause.ts';

export const cacheStale: CauseEntry = {
  id: 'cache-stale',
  group: 'A',
  place: 28,
  family: 'ratio',
  explains: ['old-logp-wrong', 'weights-not-synced'],
  decidedBy: ['responses.cached_tokens', 'responses.cached_version'],
  meaning: 'The sampler reuses a prefix cache that older weights made.',
  toldApart: 'Disagreement only where tokens came from the cache; evidence by condition.',
  symptoms: ['disagreement for repeated prompts only', 'it grows from update to update'],
  pictures: ['token-cache'],
  proof: 'Responses without cached tokens agree, those with do not.',
  remedy: 'Reset the prefix cache whenever weights are loaded.',
  pytorch: 'engine.load_weights(...); engine.reset_prefix_cache()',
  chinese: {
    symptoms: ['只有重复的提示出现分歧', '它随更新逐次增大'],
    meaning: '采样器重用了旧权重产生的前缀缓存。',
    remedy: '每次加载权重后都重置前缀缓存。',
    toldApart: '只有词元来自缓存的地方不一致；证据按条件分列。',
    proof: '没有缓存词元的回答一致，有的则不一致。',
  },
};
