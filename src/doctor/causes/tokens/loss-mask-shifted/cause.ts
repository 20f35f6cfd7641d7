/** The loss mask, or the log-probabilities, are some places off, or aligned to the other end. */
import type { CauseEntry } from '../../cause.ts';

export const lossMaskShifted: CauseEntry = {
  id: 'loss-mask-shifted',
  group: 'A',
  place: 44,
  family: 'ratio',
  explains: [
    'padding-trained',
    'environment-tokens-trained',
    'old-logp-wrong',
    'loss-normaliser-wrong',
    'reward-token-wrong',
  ],
  decidedBy: ['samples.source', 'samples.trained', 'replays.coef'],
  meaning: 'The loss mask, or the log-probabilities, are some places off, or aligned to the other end.',
  toldApart:
    'One shift reproduces the mask exactly, or makes the rows agree; named before padding-trained and environment-tokens-trained.',
  symptoms: [
    'the last prompt token is trained and the last token of the answer is not',
    'ratios off 1 before the first step',
  ],
  proof: 'One shift makes every mask, or every log-probability, right.',
  remedy: 'Shift logits, labels and mask together: what predicts token t stands at t - 1.',
  pytorch: `logp = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
mask = response_mask[:, 1:]`,
  chinese: {
    symptoms: ['提示的最后一个词元被训练，回答的最后一个却没有', '第一步之前比率偏离 1'],
    meaning: '损失掩码或对数概率错开了若干位置，或对齐到了另一端。',
    remedy: '把 logits、标签与掩码一起移位：预测第 t 个词元的是第 t - 1 个位置。',
    toldApart: '平移一次就精确得出掩码，或使各行一致；先于 padding-trained 与 environment-tokens-trained 报出。',
    proof: '平移一次就使每个掩码或每个对数概率正确。',
  },
};
