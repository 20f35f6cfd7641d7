/** Padded or dead-agent rows enter the loss. */
import type { CauseEntry } from '../../cause.ts';

export const paddingTrained: CauseEntry = {
  id: 'padding-trained',
  group: 'B',
  place: 90,
  explainsFamilies: ['pairing'],
  explains: [
    'return-inconsistent',
    'old-logp-wrong',
    'reward-time-shifted',
    'mask-not-replayed',
    'critic-context-misaligned',
    'phantom-steps',
    'subset-not-replayed',
  ],
  decidedBy: ['replays.weight', 'samples.obs'],
  meaning: 'Padded or dead-agent rows enter the loss.',
  toldApart: 'As phantom steps, and the rows are empty or fill every episode to one length.',
  symptoms: ['losses shrink with the padding', 'short episodes count less'],
  proof: 'Empty rows, or rows that fill episodes to one length, have weight in the loss.',
  remedy: 'Multiply every term by the padding mask and divide by its sum, not by the padded length.',
  pytorch: 'loss = (loss * mask).sum() / mask.sum()        # not .mean()',
  trueline: 'rows.weight is 0 for a row that must not count',
  chinese: {
    symptoms: ['填充越多损失越小', '短的局分量变小'],
    meaning: '填充的行或已离场智能体的行进入了损失。',
    remedy: '每一项都乘以填充掩码，并除以掩码之和，而不是填充后的长度。',
    toldApart: '同 phantom-steps，且这些行是空的，或把每一局都补到同一长度。',
    proof: '空行，或把各局补到同一长度的行，在损失中有权重。',
  },
};
