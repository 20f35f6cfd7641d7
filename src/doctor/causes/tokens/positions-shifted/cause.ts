/** Padding moves position ids, or padding tokens are attended to. */
import type { CauseEntry } from '../../cause.ts';

export const positionsShifted: CauseEntry = {
  id: 'positions-shifted',
  group: 'A',
  place: 34,
  family: 'ratio',
  explains: ['old-logp-wrong', 'stochastic-forward'],
  decidedBy: ['samples.control_logp', 'responses.padding', 'responses.sampler_padding', 'samples.position'],
  meaning: 'Padding moves position ids, or padding tokens are attended to.',
  toldApart: 'On the side whose log-probabilities differ from a clean pass, by more the more padding a row has.',
  symptoms: ['batch size 1 works and larger batches do not', 'short responses disagree most'],
  pictures: ['token-padding', 'token-sampler-padding'],
  proof: 'Rows without padding agree with a clean pass, rows with padding do not.',
  remedy: 'Compute position ids from the attention mask, and pass both to every forward pass.',
  pytorch: `position_ids = (mask.cumsum(-1) - 1).clamp(min=0)
model(ids, attention_mask=mask, position_ids=position_ids)`,
  chinese: {
    symptoms: ['批大小为 1 时正常，更大就不行', '短回答分歧最大'],
    meaning: '填充使位置编号错位，或填充词元被注意到。',
    remedy: '由注意力掩码计算位置编号，并在每次前向时同时传入两者。',
    toldApart: '在对数概率与干净的一遍不同的那一侧，行的填充越多，相差越大。',
    proof: '没有填充的行与干净的一遍一致，有填充的则不一致。',
  },
};
