/** Tokens of tools, users or templates enter the loss. */
import type { CauseEntry } from '../../cause.ts';

export const environmentTokensTrained: CauseEntry = {
  id: 'environment-tokens-trained',
  group: 'B',
  place: 92,
  explains: ['loss-normaliser-wrong'],
  decidedBy: ['samples.source', 'replays.coef'],
  meaning: 'Tokens of tools, users or templates enter the loss.',
  toldApart: 'Tokens of another source than the model have a derivative of the loss that is not 0.',
  symptoms: ['the model learns to write tool output', 'KL that explodes on tool turns'],
  proof: 'The loss mask covers tokens that the model did not sample.',
  remedy: 'Set the loss mask to 0 on everything that the model did not sample.',
  pytorch: 'mask = response_mask & (source == SAMPLED)',
  chinese: {
    symptoms: ['模型学着写工具的输出', '工具轮次上的 KL 爆炸'],
    meaning: '工具、用户或模板的词元进入了损失。',
    remedy: '凡不是模型采样得到的词元，损失掩码一律置 0。',
    toldApart: '来源不是模型的词元，其损失导数不为 0。',
    proof: '损失掩码覆盖了不是模型采样的词元。',
  },
};
