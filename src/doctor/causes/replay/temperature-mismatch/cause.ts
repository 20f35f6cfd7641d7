/** Sampling and update divide the logits by different temperatures. */
import type { CauseEntry } from '../../cause.ts';

export const temperatureMismatch: CauseEntry = {
  id: 'temperature-mismatch',
  group: 'A',
  place: 70,
  family: 'ratio',
  explains: ['old-logp-wrong'],
  decidedBy: ['samples.logits', 'samples.temperature'],
  choices: true,
  meaning: 'Sampling and update divide the logits by different temperatures.',
  toldApart:
    'One scale of the logits, the same for all rows, makes new_logp and old_logp agree; named before old-logp-wrong where both fit.',
  symptoms: ['ratios leave 1 before the first step', 'clip fraction that grows as the policy becomes decided'],
  proof: 'One temperature, fitted once for all rows, removes the disagreement.',
  remedy: 'Use one temperature on both paths, and store it with the row if it changes.',
  pytorch: `logits = actor(obs)[rows, subset_ids]          # the same gather in sampling and in the update
dist = Categorical(logits=logits.masked_fill(~legal, -1e9) / temperature)`,
  trueline: 'localPolicy(logits, candidates, legal, temperature, out)   // the one function for both paths',
  chinese: {
    symptoms: ['第一步之前比率就离开 1', '策略越确定，裁剪比例越大'],
    meaning: '采样与更新用不同的温度去除 logits。',
    remedy: '两处使用同一个温度；若温度会变化，就随行保存。',
    toldApart: '对所有行用同一个 logits 比例就能使 new_logp 与 old_logp 一致；两者都符合时，先于 old-logp-wrong 报出。',
    proof: '对所有行一次拟合出的同一个温度消除了不一致。',
  },
};
